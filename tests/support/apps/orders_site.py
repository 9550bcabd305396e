"""A shop with pages of orders, which counts new orders."""

from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import parse_qs

ORDERS = [
    (number, name, f"{number * 1_000 + 0.5:,.2f} €")
    for number, name in enumerate(["Ada", "Bob", "Cid", "Dan", "Eve"], 1)
]
PAGE_SIZE = 2
NEWS = """<h2>News</h2><div><article><h3>Oolong is here</h3><a href="/news/7">Read on</a><p>Price: 12.50</p></article>
<article><h3>Sencha is back</h3><a href="/news/8">Read on</a><p>Price: 8</p></article></div>
<aside><h2>Links</h2><ul><li><a href="/">Home</a></li></ul></aside>"""
ACCOUNT = """<h1>Account</h1><dl><dt>Customer</dt><dd>Ada</dd></dl><table><tr><th>City:</th><td>London</td></tr></table>
<label>Mail <input value="ada@tea.example"></label><p><b>Points</b> 1 234</p><p>Since: 2024</p>"""
SCRIPTED = """<h1>Stock</h1><div id=box></div><button id=next>Next</button><script>
const rows = [["Green", 3], ["Black", 5], ["White", 1]]; let at = 0;
const head = "<tr><th>Tea</th><th>Left</th></tr>";
const show = () => {
  box.innerHTML = `<table>${head}<tr><td>${rows[at][0]}</td><td>${rows[at][1]}</td></tr></table>`;
  next.disabled = at === rows.length - 1; };
next.onclick = () => {
  box.insertAdjacentHTML("afterbegin", "<p>Loading</p>");
  setTimeout(() => { at++; show(); }, 300);
};
show();
</script>"""


@dataclass
class OrdersSite:
    """The site.

    Attributes:
        ordered: The number of orders by name.
    """

    ordered: Counter[str] = field(default_factory=Counter)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["method"] == "POST":
            fields = parse_qs(await read_body(receive))
            self.ordered[fields["name"][0]] += 1
            await answer(send, "", status=303, location=f"/thanks?name={fields['name'][0]}")
            return
        query = parse_qs(scope["query_string"].decode())
        await answer(send, self.build_page(scope["path"], query))

    def build_page(self, path: str, query: dict[str, list[str]]) -> str:
        """Return the HTML of a path."""
        name = escape(query.get("name", [""])[0])
        fields = "<label>Name <input name=name></label><button>Send</button>"
        sent = "".join(f"<li>Order for {escape(each)}</li>" for each in self.ordered)
        pages = {
            "/orders": build_order_page(int(query.get("page", ["1"])[0])),
            "/news": NEWS,
            "/account": ACCOUNT,
            "/stock": SCRIPTED,
            "/order": f'<h1>Order</h1><form method=post action="/order">{fields}</form>',
            "/thanks": f"<h1>Thanks</h1><p>Thanks, {name}</p>",
            "/sent": f"<h1>Sent</h1><ul>{sent}</ul>",
        }
        return pages.get(path, "<h1>Shop</h1>")


def build_order_page(number: int) -> str:
    """Build one page of the table of orders."""
    shown = ORDERS[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    rows = "".join(
        f"<tr><td>{order}</td><td><a href=/order/{order}>{name}</a></td><td>{total}</td></tr>"
        for order, name, total in shown
    )
    more = f"<a href='/orders?page={number + 1}'>Next</a>" if number * PAGE_SIZE < len(ORDERS) else ""
    head = "<tr><th>No.</th><th>Customer</th><th>Total</th></tr>"
    return f"<h1>Orders</h1><table>{head}{rows}<tfoot><tr><td colspan=3>Sum</td></tr></tfoot></table>{more}"


async def read_body(receive: Any) -> str:
    """Return the body of a request."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body.decode()


async def answer(send: Any, body: str, *, status: int = 200, location: str = "") -> None:
    """Send an HTML page, or a redirect."""
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        *([(b"location", location.encode())] if location else []),
    ]
    page = f"<!doctype html><title>Shop</title>{body}".encode()
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": page})
