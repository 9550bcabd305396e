"""Small applications whose pages change as websites do, and that log what each press was meant for.

Every control has a `data-intent`, which no evidence uses; a mutation that changes what a control means changes it too.
"""

import json
from dataclasses import dataclass
from typing import Any

LOGGER = """<script>
const log = (intent) => {
  const all = JSON.parse(localStorage.log || '[]');
  if (all.at(-1) !== intent) all.push(intent);
  localStorage.log = JSON.stringify(all);
};
addEventListener('click', (event) => {
  const control = event.target.closest('button,a,[role=button],[role=tab],[role=menuitem]');
  if (event.isTrusted && control) log(control.dataset.intent || 'other');
}, true);
addEventListener('input', (event) => log(event.target.dataset.intent || 'other'), true);
const say = (text) => { document.querySelector('[role=status]').textContent = text; };
addEventListener('submit', (event) => { event.preventDefault(); say('Done'); });
</script>"""
STATUS = "<p role=status></p>"


def build_rows(names: tuple[str, ...], row: str) -> str:
    """The same markup for each name; `{}` is the name, `{n}` its number, `{low}` the name in small letters."""
    return "".join(row.format(name, n=number, low=name.lower()) for number, name in enumerate(names, 1))


TEAS = ("Assam", "Ceylon", "Darjeeling", "Sencha")
PAGES = {
    "order": (
        "<header><a href=/order>Home</a></header><main><h1>Order</h1><p>Fill in the form.</p><form id=order class=box>"
        "<label>Name <input id=name name=name data-intent=name></label>"
        "<label>Street <input id=street name=street autocomplete=street-address data-intent=street></label>"
        "<label>Size <select id=size name=size data-intent=size><option>Small<option>Large</select></label>"
        "<label><input type=checkbox id=gift name=gift data-intent=gift> Gift</label>"
        "<p><button type=button id=cancel class=plain data-intent=cancel>Cancel</button>"
        "<button id=send class=main data-intent=send>Send order</button></p></form></main><footer>Imprint</footer>"
    ),
    "table": (
        "<main><h1>Teas</h1><table id=teas class=list><thead><tr><th>Tea<th>Price<th>Actions</thead><tbody>"
        + build_rows(
            TEAS,
            "<tr class=row><td>{0}<td>{n}.50<td><button id=edit-{n} data-intent='edit {0}'>Edit</button>"
            "<button id=delete-{n} onclick=\"say('Deleted {0}')\" data-intent='delete {0}'>Delete</button></tr>",
        )
        + "</tbody></table></main>"
    ),
    "cards": (
        "<div class=page><h1>Shop</h1><p>Fresh today</p><div class=grid>"
        + build_rows(
            TEAS,
            "<div class=card><div class=title>{0}</div><div class=price>{n}.00</div>"
            "<button class=add id=add-{n} onclick=\"say('Added {0}')\" data-intent='add {0}'>Add to cart</button>"
            "</div>",
        )
        + "</div><a id=checkout href='#paid' onclick=\"say('Paid')\" data-intent=checkout>Checkout</a></div>"
    ),
    "settings": (
        "<main><h1>Settings</h1>"
        "<section class=part><h2>Profile</h2><label>Nickname <input id=nick name=nick data-intent=nick></label>"
        "<button id=save-profile data-intent='save profile' onclick=\"say('Profile saved')\">Save</button></section>"
        "<section class=part><h2>Delivery</h2><label>City <input id=city name=city data-intent=city></label>"
        "<button id=save-delivery data-intent='save delivery' onclick=\"say('Delivery saved')\">Save</button></section>"
        "<section class=part><h2>Danger</h2><button id=close data-intent=close>Close account</button></section></main>"
    ),
    "inbox": (
        "<nav><a href='#all' data-intent=all>All mail</a> <a href='#spam' data-intent=spam>Spam</a></nav>"
        "<main><h1>Inbox</h1><ul id=mails class=list>"
        + build_rows(
            ("Invoice", "Greetings", "Newsletter"),
            "<li class=mail><b>{0}</b> <label><input type=checkbox id=pick-{n} data-intent='pick {0}'> Select</label>"
            "<button id=open-{n} data-intent='open {0}'>Open</button></li>",
        )
        + "</ul><div role=toolbar>"
        "<button id=archive data-intent=archive onclick=\"say('Archived')\">Archive (3)</button>"
        "<button id=trash data-intent=trash>Delete</button></div></main>"
    ),
    "wizard": (
        "<main><h1>Account</h1><form id=who><label>E-mail <input id=mail name=mail type=email data-intent=mail></label>"
        "<label>Password <input id=secret name=secret type=password data-intent=secret></label></form>"
        "<div class=buttons><a id=back href=/table data-intent=back>Back</a>"
        "<a id=next href=/finish data-intent=next>Next</a></div></main>"
    ),
    "finish": (
        "<main><h1>Nearly there</h1><label><input id=terms type=checkbox name=terms data-intent=terms> I agree</label>"
        "<button id=finish data-intent=finish onclick=\"say('Welcome')\">Finish</button></main>"
    ),
}
# What a flow does on its first page: tool, selector and value; `target` is the control that mutations are about.
Step = tuple[str, str, Any]


@dataclass(frozen=True)
class RecordedTask:
    """What is recorded, and the selector of the control that mutations change."""

    page: str
    steps: tuple[Step, ...]
    target: str


TASKS = {
    "order tea": RecordedTask(
        "order",
        (
            ("inputText", "#name", "Ada"),
            ("inputText", "#street", "Hill Road"),
            ("selectOption", "#size", ["Large"]),
            ("selectOption", "#gift", True),
            ("clickElement", "#send", None),
        ),
        "#send",
    ),
    "delete a row": RecordedTask("table", (("clickElement", "#delete-2", None),), "#delete-2"),
    "edit the last row": RecordedTask("table", (("clickElement", "#edit-4", None),), "#edit-4"),
    "buy from a card": RecordedTask(
        "cards", (("clickElement", "#add-3", None), ("clickElement", "#checkout", None)), "#add-3"
    ),
    "check out": RecordedTask("cards", (("clickElement", "#checkout", None),), "#checkout"),
    "save one of two": RecordedTask(
        "settings", (("inputText", "#city", "Graz"), ("clickElement", "#save-delivery", None)), "#save-delivery"
    ),
    "save the first": RecordedTask("settings", (("clickElement", "#save-profile", None),), "#save-profile"),
    "archive a mail": RecordedTask(
        "inbox", (("selectOption", "#pick-2", True), ("clickElement", "#archive", None)), "#archive"
    ),
    "open a mail": RecordedTask("inbox", (("clickElement", "#open-3", None),), "#open-3"),
    "walk through": RecordedTask(
        "wizard",
        (
            ("inputText", "#mail", "ada@example.org"),
            ("inputText", "#secret", "hunter2"),
            ("clickElement", "#next", None),
            ("selectOption", "#terms", True),
            ("clickElement", "#finish", None),
        ),
        "#finish",
    ),
}

HELPERS = """
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const controls = () => all('button,a[href],input,select');
const targetOf = (selector) => document.querySelector(selector);
const rowOf = (element) => element?.closest('tr,li,.card,section');
const textsOf = (root) => {
  const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && !parent.closest('script,option')) found.push(walker.currentNode);
  }
  return found;
};
const clone = (element, intent) => {
  const copy = element.cloneNode(true);
  copy.dataset.intent = intent;
  copy.removeAttribute('onclick');
  return copy;
};
const rename = (row, name) => {
  const old = textsOf(row)[0].data.trim();
  for (const each of all('*', row)) {
    if (each.dataset?.intent) each.dataset.intent = each.dataset.intent.replace(old, name);
  }
  textsOf(row)[0].data = name;
};
"""
# Each gets the selector of the target and may change anything on the page.
MUTATIONS = {
    "ids": "all('[id]').forEach((each, n) => { each.id = 'x' + n + 'qz'; });",
    "ids renumbered": (
        "const ids = all('[id]').map((each) => each.id).reverse();"
        "all('[id]').forEach((each, n) => { each.id = ids[n]; });"
    ),
    "classes": "all('[class]').forEach((each, n) => { each.className = 'css-' + n; });",
    "attributes": (
        "all('[id]').forEach((each) => each.removeAttribute('id'));"
        "all('[name]').forEach((each, n) => { each.setAttribute('name', 'f' + n); });"
    ),
    "rows reversed": (
        "for (const box of all('tbody,ul,.grid')) [...box.children].reverse().forEach((each) => box.append(each));"
    ),
    "sections reversed": (
        "for (const box of all('main')) all(':scope > section', box).reverse().forEach((each) => box.append(each));"
    ),
    "wrappers": (
        "for (const each of controls()) { const box = document.createElement('div');"
        "each.replaceWith(box); box.append(each); }"
        "const outer = document.createElement('div'); outer.append(...document.body.childNodes);"
        "document.body.append(outer);"
    ),
    "other texts": (
        "for (const each of all('p:not([role]),footer'))if (!each.children.length) each.textContent = 'Something else';"
    ),
    "labels reworded": (
        "for (const label of all('label')) { const text = textsOf(label)[0];"
        "if (text) text.data = 'Your ' + text.data; }"
    ),
    "target reworded": "target.textContent = 'Go ahead, ' + target.textContent;",
    "translated": (
        "document.documentElement.lang = 'xx';"
        "for (const each of textsOf(document.body)) each.data = [...each.data].reverse().join('') + ' ';"
    ),
    "rows added": (
        "for (const box of all('tbody,ul,.grid')) { const row = box.children[0].cloneNode(true); rename(row, 'Matcha');"
        "all('[id]', row).forEach((each) => { each.id += '0'; }); box.prepend(row); }"
    ),
    "rows added, numbers moved on": (
        "for (const box of all('tbody,ul,.grid')) { const row = box.children[0].cloneNode(true); rename(row, 'Matcha');"
        "box.prepend(row); [...box.children].forEach((each, n) =>"
        "all('[id]', each).forEach((one) => { one.id = one.id.replace(/\\d+/, n + 1); })); }"
    ),
    "row removed": "rowOf(target)?.remove(); target.remove();",
    "row removed, numbers moved up": (
        "const box = rowOf(target)?.parentElement; rowOf(target)?.remove(); target.remove();"
        "[...(box?.children || [])].forEach((each, n) =>"
        "all('[id]', each).forEach((one) => { one.id = one.id.replace(/\\d+/, n + 1); }));"
    ),
    "row replaced": ("if (rowOf(target)) { rename(rowOf(target), 'Matcha'); target.dataset.intent += ' other'; }"),
    "target removed": "target.remove();",
    "twin in the footer": (
        "const foot = document.createElement('footer'); foot.append(clone(target, 'other'));"
        "foot.firstChild.removeAttribute('id'); document.body.append(foot);"
    ),
    "twin before, with the id": (
        "const twin = clone(target, 'other'); const box = document.createElement('div');"
        "box.append('Special offer ', twin); document.body.prepend(box); target.id = 'old';"
    ),
    "twin beside it": "target.before(clone(target, 'other')); target.previousSibling.removeAttribute('id');",
    "only the twin is left": (
        "const foot = document.createElement('footer'); foot.append(clone(target, 'other'));"
        "foot.firstChild.removeAttribute('id'); document.body.append(foot); target.remove();"
    ),
    "hidden twin": "const twin = clone(target, 'other'); twin.hidden = true; target.before(twin);",
    "slow": (
        "const main = document.querySelector('main,.page'); const place = document.createElement('div');"
        "main.replaceWith(place); setTimeout(() => place.replaceWith(main), 700);"
    ),
    "banner over the page": (
        "const over = document.createElement('div'); over.style = 'position:fixed;inset:0;background:#fffc;z-index:9';"
        "over.innerHTML = '<h2>Cookies</h2><button data-intent=other>Accept</button>'; document.body.append(over);"
    ),
    "banner at the bottom": (
        "const over = document.createElement('div');"
        "over.style = 'position:fixed;bottom:0;height:40px;background:#eee';"
        "over.innerHTML = 'Cookies <button data-intent=other>Accept</button>'; document.body.append(over);"
    ),
    "renamed in the same place": "target.textContent = 'Remove everything'; target.dataset.intent = 'other';",
    "moved to another place": (
        "const head = document.createElement('header'); head.append(target); document.body.prepend(head);"
    ),
    "labels swapped": (
        "const sibling = target.previousElementSibling || target.nextElementSibling;"
        "if (sibling && sibling.matches('button,a')) { const [a, b] = [target, sibling];"
        "[a.textContent, b.textContent] = [b.textContent, a.textContent];"
        "[a.dataset.intent, b.dataset.intent] = [b.dataset.intent, a.dataset.intent];"
        "const [f, g] = [a.getAttribute('onclick'), b.getAttribute('onclick')];"
        "a.setAttribute('onclick', g || ''); b.setAttribute('onclick', f || ''); }"
    ),
    "headings reworded": "for (const each of all('h1,h2')) each.textContent = 'Our ' + each.textContent;",
    "disabled": "target.disabled = true; target.setAttribute('aria-disabled', 'true');",
    "button became a link": (
        "const link = document.createElement(target.localName === 'a' ? 'button' : 'a'); link.href = '#x';"
        "for (const each of target.attributes) if (each.name !== 'href') link.setAttribute(each.name, each.value);"
        "link.textContent = target.textContent; target.replaceWith(link);"
    ),
}


@dataclass
class MutatingSite:
    """An ASGI application: the pages, changed by the mutation that is set."""

    mutation: str = ""
    target: str = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = PAGES.get(scope["path"].strip("/"), "<h1>Nothing here</h1>")
        html = f"<!doctype html><html lang=en><title>Shop</title><body>{LOGGER}{body}{STATUS}{self._write_mutation()}"
        headers = [(b"content-type", b"text/html; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": html.encode()})

    def _write_mutation(self) -> str:
        if not self.mutation:
            return ""
        body = f"const target = targetOf({json.dumps(self.target)}); {MUTATIONS[self.mutation]}"
        # A page without the target stays as it is.
        guarded = f"if (targetOf({json.dumps(self.target)})) {{ {body} }}"
        return f"<script>{{ {HELPERS} {guarded} }}</script>"
