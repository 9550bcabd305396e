"""Changes of pages, and the actions of a person who meets them."""

from dataclasses import dataclass
from typing import Literal

from support.mutations.pages import RecordedTask

HELPERS = """
const all = (selector, root = document) => [
  ...root.querySelectorAll(selector),
  ...[...root.querySelectorAll('*')].filter((each) => each.shadowRoot).flatMap((each) => all(selector, each.shadowRoot)),
];
const controls = () => all('button,a[href],input,select');
const targetOf = (selector) => all(selector)[0];
const rowOf = (element) => element?.closest('tr,li,.card,section,article,[role=listitem]');
const textsOf = (root) => {
  const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && !parent.closest('script,option')) found.push(walker.currentNode);
  }
  for (const each of all('*', root)) if (each.shadowRoot) found.push(...textsOf(each.shadowRoot));
  return found;
};
const nameOf = (each) => each.ariaLabel || (each.localName === 'input' ? each.value : each.textContent);
const relabel = (each, name) => {
  if (each.ariaLabel) each.ariaLabel = name;
  else if (each.localName === 'input') each.value = name;
  else each.textContent = name;
};
const translate = (words, language) => {
  if (language) document.documentElement.lang = language;
  for (const each of textsOf(document.body)) {
    const found = words[each.data.trim()];
    if (found) each.data = each.data.replace(each.data.trim(), found);
  }
  for (const each of all('[aria-label],[placeholder],[title]')) {
    for (const name of ['aria-label', 'placeholder', 'title']) {
      const found = words[each.getAttribute(name)];
      if (found) each.setAttribute(name, found);
    }
  }
};
const setId = (element, id) => {
  for (const label of element.id ? all(`label[for="${element.id}"]`) : []) label.htmlFor = id;
  element.id = id;
};
const clone = (element, intent) => {
  const copy = element.cloneNode(true);
  // A link of the same name to the same address is the same thing.
  if (!element.getAttribute('href')?.startsWith('/')) copy.dataset.intent = intent;
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


@dataclass(frozen=True)
class Mutation:
    """A change.

    Attributes:
        script: JavaScript that gets `target`, the control that the task is about.
        person: The action of a person who knows the page; `may stop` if people would differ.
        in_rows: The same for a task about one of several rows, if that differs.
        only_rows: Whether it changes only rows.
        is_narrow: Whether the window is as narrow as a phone's.
        reason: The required reason of a stop; empty for any reason about a missing element.
    """

    script: str
    person: Literal["goes on", "stops", "may stop"] = "goes on"
    in_rows: str = ""
    only_rows: bool = False
    is_narrow: bool = False
    reason: str = ""

    def expect(self, task: RecordedTask) -> str:
        """Return the action of a person in this task."""
        return (task.in_row and self.in_rows) or self.person


MUTATIONS = {
    "ids": Mutation("all('[id]').forEach((each, n) => { setId(each, 'x' + n + 'qz'); });"),
    "ids renumbered": Mutation(
        "const labels = all('label[for]').map((each) => [each, each.control]);"
        "const ids = all('[id]').map((each) => each.id).reverse();"
        "all('[id]').forEach((each, n) => { if (each.id !== 'root') each.id = ids[n]; });"
        "for (const [label, control] of labels) if (control) label.htmlFor = control.id;"
    ),
    "classes": Mutation("all('[class]').forEach((each, n) => { each.className = 'css-' + n; });"),
    "attributes": Mutation(
        "all('[id]').forEach((each, n) => { setId(each, 'a' + n + '00000'); });all('[name]').forEach((each, n) => { "
        "each.setAttribute('name', 'f' + n); });"
    ),
    "rows reversed": Mutation(
        "for (const box of all('tbody,ul,.grid')) [...box.children].reverse().forEach((each) => box.append(each));"
    ),
    "sections reversed": Mutation(
        "for (const box of all('main')) all(':scope > section', box).reverse().forEach((each) => box.append(each));"
    ),
    "wrappers": Mutation(
        "for (const each of controls()) { const box = document.createElement('div');each.replaceWith(box); "
        "box.append(each); }const outer = document.createElement('div'); "
        "outer.append(...document.body.childNodes);document.body.append(outer);"
    ),
    "other texts": Mutation(
        "for (const each of all('p:not([role]),footer')) if (!each.children.length) each.textContent = 'Something else';"
    ),
    "labels reworded": Mutation(
        "for (const label of all('label')) { const text = textsOf(label)[0];if (text) text.data = 'Your ' + "
        "text.data; }"
    ),
    "target reworded": Mutation("relabel(target, 'Go ahead, ' + nameOf(target));"),
    "texts without sense": Mutation(
        "document.documentElement.lang = 'xx';for (const each of textsOf(document.body)) each.data = "
        "[...each.data].reverse().join('') + ' ';",
        "may stop",
    ),
    "rows added": Mutation(
        "for (const box of all('tbody,ul,.grid')) { const row = box.children[0].cloneNode(true); rename(row, "
        "'Matcha');all('[id]', row).forEach((each) => { each.id += '0'; }); box.prepend(row); }"
    ),
    "rows added, numbers moved on": Mutation(
        "for (const box of all('tbody,ul,.grid')) { const row = box.children[0].cloneNode(true); rename(row, "
        "'Matcha');box.prepend(row); [...box.children].forEach((each, n) =>all('[id]', each).forEach((one) =>"
        " { one.id = one.id.replace(/\\d+/, n + 1); })); }"
    ),
    "row removed": Mutation("rowOf(target)?.remove(); target.remove();", "stops"),
    "row removed, numbers moved up": Mutation(
        "const box = rowOf(target)?.parentElement; rowOf(target)?.remove(); "
        "target.remove();[...(box?.children || [])].forEach((each, n) =>all('[id]', each).forEach((one) => { "
        "one.id = one.id.replace(/\\d+/, n + 1); }));",
        "stops",
    ),
    "row replaced": Mutation(
        "if (rowOf(target)) { rename(rowOf(target), 'Matcha'); target.dataset.intent += ' other'; }",
        "stops",
        only_rows=True,
    ),
    "target removed": Mutation("target.remove();", "stops"),
    "twin in the footer": Mutation(
        "const foot = document.createElement('footer'); foot.append(clone(target, "
        "'other'));foot.firstChild.removeAttribute('id'); document.body.append(foot);"
    ),
    "twin before, with the id": Mutation(
        "const twin = clone(target, 'other'); const box = document.createElement('div');box.append('Special "
        "offer ', twin); document.body.prepend(box); target.id = 'old';"
    ),
    "twin beside it": Mutation(
        "target.before(clone(target, 'other')); target.previousSibling.removeAttribute('id');", "may stop"
    ),
    "only the twin is left": Mutation(
        "const foot = document.createElement('footer'); foot.append(clone(target, "
        # With a test id or the name of its field, it would be the same element in another place.
        "'other')); for (const name of ['id', 'name', 'data-testid']) foot.firstChild.removeAttribute(name);"
        "document.body.append(foot); target.remove();",
        "stops",
    ),
    "hidden twin": Mutation("const twin = clone(target, 'other'); twin.hidden = true; target.before(twin);"),
    "slow": Mutation(
        "const main = document.querySelector('main,.page'); const place = "
        "document.createElement('div');main.replaceWith(place); setTimeout(() => place.replaceWith(main), "
        "700);"
    ),
    "banner over the page": Mutation(
        "const over = document.createElement('div'); over.style = "
        "'position:fixed;inset:0;background:#fffc;z-index:9';over.innerHTML = '<h2>Cookies</h2><button "
        "data-intent=other>Accept</button>'; document.body.append(over);",
        "stops",
    ),
    "banner at the bottom": Mutation(
        "const over = document.createElement('div');over.style = "
        "'position:fixed;bottom:0;height:40px;background:#eee';over.innerHTML = 'Cookies <button "
        "data-intent=other>Accept</button>'; document.body.append(over);"
    ),
    "renamed in the same place": Mutation(
        "relabel(target, 'Remove everything'); target.dataset.intent = 'other';", "stops"
    ),
    "moved to another place": Mutation(
        "const head = document.createElement('header'); if (target.form) target.setAttribute('form', target.form.id);"
        "head.append(target); document.body.prepend(head);",
        in_rows="may stop",
    ),
    "labels swapped": Mutation(
        "const sibling = target.previousElementSibling || target.nextElementSibling;"
        "if (sibling && sibling.matches('button,a') && target.matches('button,a')) { const [a, b] = [target, sibling];"
        "const [c, d] = [nameOf(a), nameOf(b)]; relabel(a, d); relabel(b, c); [a.type, b.type] = [b.type, a.type];"
        "[a.href, b.href] = [b.href, a.href];"
        "[a.dataset.intent, b.dataset.intent] = [b.dataset.intent, a.dataset.intent];"
        "const [f, g] = [a.getAttribute('onclick'), b.getAttribute('onclick')];"
        "a.setAttribute('onclick', g || ''); b.setAttribute('onclick', f || ''); }"
    ),
    "headings reworded": Mutation("for (const each of all('h1,h2')) each.textContent = 'Our ' + each.textContent;"),
    "disabled": Mutation("target.disabled = true; target.setAttribute('aria-disabled', 'true');", "stops"),
    "button became a link": Mutation(
        "if (target.matches('button,a')) { const isLink = target.localName === 'a';"
        "const other = document.createElement(isLink ? 'button' : 'a'); other.href = '#x';"
        "for (const each of target.attributes) if (each.name !== 'href') other.setAttribute(each.name, each.value);"
        "other.textContent = target.textContent; const { onclick, href, form } = target;"
        "if (form) other.onclick = () => form.requestSubmit(); else if (onclick) other.onclick = onclick; else if (isLink) other.onclick = () => { location.href = href; };"
        "target.replaceWith(other); }"
    ),
    "translated into German": Mutation("translate(WORDS.german, 'de');"),
    "other words of the same meaning": Mutation("translate(WORDS.synonyms, '');"),
}
