"""Serve pages as large as real ones: `python -m bench.browser_site`."""

import random
import sys
from html import escape
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from bench.page_servers import PageHandler

SEED = 4_711
ROWS = 2_000
WORDS = (  # noqa: SIM905
    "river stone paper morning letter garden window silver harbour quiet market signal winter copper bridge lantern "
    "orchard valley cotton engine museum travel kitchen forest island violin carpet summer shadow station"
).split()
COUNTRIES = [f"{word.capitalize()}land" for word in WORDS]


PAGE_STYLE = """<style>
body { font: 16px/1.5 sans-serif; margin: 0 auto; max-width: 1100px } nav a { margin-right: 1em }
table { border-collapse: collapse } td, th { border: 1px solid #ccc; padding: 2px 8px }
.cards { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1em } .card { border: 1px solid #ddd; padding: 8px }
.field { margin: 6px 0 } label { display: inline-block; min-width: 12em } .bar { display: flex; gap: 1em }
</style>"""


class WordSource:
    """Draw random words; the same seed draws the same ones."""

    def __init__(self) -> None:
        self._random = random.Random(SEED)

    def draw_words(self, count: int) -> str:
        return " ".join(self._random.choices(WORDS, k=count))

    def draw_sentence(self, count: int = 14) -> str:
        return f"{self.draw_words(count).capitalize()}."

    def draw_paragraph(self, number: int) -> str:
        link = f'<a href="/article?of={number}">{self.draw_words(3)}</a>'
        start, end = f"{self.draw_sentence(18)} {self.draw_sentence(12)}", f"<b>{self.draw_words(2)}</b>"
        return f"<p>{start} See {link} or {end}. {self.draw_sentence(16)}</p>"


def build_page(title: str, body: str) -> str:
    """Build a document with a menu and a footer."""
    menu = "".join(f'<a href="/{word}">{word.capitalize()}</a> ' for word in WORDS[:8])
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>{PAGE_STYLE}</head><body>"
        f"<header><nav aria-label=Main>{menu}</nav></header><main><h1>{title}</h1>{body}</main>"
        f"<footer><p>All rights reserved.</p><a href=/imprint>Imprint</a></footer></body></html>"
    )


def build_form() -> str:
    """Build a registration of thirty fields, and a counter to press."""
    texts = [
        "First name",
        "Last name",
        "Street",
        "House number",
        "Postcode",
        "City",
        "E-mail",
        "Phone",
        "Company",
        "VAT",
    ]
    fields = "".join(
        f"<div class=field><label for=f{at}>{name}</label> <input id=f{at} name=f{at}></div>"
        for at, name in enumerate(texts)
    )
    options = "".join(f"<option>{name}</option>" for name in COUNTRIES)
    radios = "".join(
        f"<label><input type=radio name=plan value={word}> {word.capitalize()}</label> " for word in WORDS[:4]
    )
    checks = "".join(
        f"<label><input type=checkbox name={word}> Tell me about {word}</label><br>" for word in WORDS[4:14]
    )
    return build_page(
        "Registration",
        '<button type=button id=bump onclick="count.textContent = 1 + +count.textContent">Bump</button> '
        f"<output id=count>0</output><form action=/thanks><fieldset><legend>Address</legend>{fields}"
        f"<div class=field><label for=land>Country</label> <select id=land name=land>{options}</select></div>"
        "<div class=field><label for=born>Born on</label> <input type=date id=born></div></fieldset>"
        f"<fieldset><legend>Plan</legend>{radios}</fieldset><fieldset><legend>News</legend>{checks}</fieldset>"
        "<div class=field><label for=note>Message</label> <textarea id=note rows=4></textarea></div>"
        "<button>Register</button> <button type=reset>Reset</button></form>",
    )


def build_article() -> str:
    """Build a long text with links and headings."""
    writer = WordSource()
    parts = [
        f"<h2>{writer.draw_words(5).capitalize()}</h2>{''.join(writer.draw_paragraph(number) for number in range(9))}"
        for _ in range(12)
    ]
    contents = "".join(f'<li><a href="#{at}">{writer.draw_words(4)}</a></li>' for at in range(12))
    return build_page(
        "The long article", f"<aside><h2>Contents</h2><ul>{contents}</ul></aside><article>{''.join(parts)}</article>"
    )


def build_table() -> str:
    """Build 2,000 rows with a checkbox, a link and a button each."""
    writer = WordSource()
    row = (
        "<tr><td><input type=checkbox aria-label='Select {0}'></td><td>{0}</td><td><a href='/customer/{0}'>{1}</a></td>"
        "<td>{2}</td><td>{3} €</td><td><button>Archive</button></td></tr>"
    )
    rows = "".join(
        row.format(number, writer.draw_words(2).title(), writer.draw_words(1), number * 37 % 5_000)
        for number in range(1, ROWS + 1)
    )
    head = "<tr><th></th><th>No</th><th>Customer</th><th>City</th><th>Sum</th><th></th></tr>"
    return build_page("Customers", f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")


def build_board() -> str:
    """Build a board whose cards a script draws, with handlers that markup does not show."""
    return build_page(
        "Board",
        """<div id=bar class=bar><input aria-label="New card"><button id=add>Add</button></div>
<div id=cards class=cards></div>
<script>
const words = %s;
const draw = (text, at) => {
  const card = document.createElement('div');
  card.className = 'card';
  card.innerHTML = `<h3>${text}</h3><p>Due on day ${at}</p><span class=star>★</span>
    <button>Done</button> <a href="#/${at}">Open</a>`;
  card.querySelector('.star').addEventListener('click', () => card.classList.toggle('starred'));
  card.querySelector('button').addEventListener('click', () => card.remove());
  document.querySelector('#cards').append(card);
};
words.forEach(draw);
add.addEventListener('click', () => draw(document.querySelector('#bar input').value, 99));
</script>"""
        % [f"{word} and {WORDS[at * 7 % len(WORDS)]}" for at, word in enumerate(WORDS * 2)],
    )


def build_frames() -> str:
    """Build a page of two frames and a shadow root."""
    return build_page(
        "Pieces",
        "<iframe src=/login title='Sign in' width=500 height=300></iframe>"
        "<iframe src=/part width=500 height=200></iframe>"
        "<x-box></x-box><script>customElements.define('x-box', class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({mode: 'open'}).innerHTML = "
        "'<h2>Inside</h2><p>What the root holds.</p><button>Press</button>' } })"
        "</script>",
    )


def build_login() -> str:
    return build_page(
        "Sign in",
        "<form action=/thanks><div class=field><label for=u>User name</label> <input id=u></div><div class=field>"
        "<label for=p>Password</label> <input id=p type=password></div><button>Sign in</button> "
        "<a href=/lost>Lost it?</a></form>",
    )


def list_products() -> list[tuple[int, str, str]]:
    products = 48
    writer = WordSource()
    kinds = ("lamp", "chair", "kettle", "rug")
    return [
        (at, f"{WORDS[at % len(WORDS)].capitalize()} {kinds[at % 4]} {at}", writer.draw_sentence())
        for at in range(1, products + 1)
    ]


def build_shop(wanted: str = "") -> str:
    """Build a catalogue, searched or not."""
    cards = "".join(
        f'<div class=card><a href="/product?id={at}"><h3>{name}</h3></a><p>{text}</p><b>{at * 7}.90 €</b> '
        f"<button>Remember</button></div>"
        for at, name, text in list_products()
        if wanted.lower() in name.lower()
    )
    return build_page(
        "Shop",
        f"<form action=/shop role=search><input name=q aria-label='Search the shop' value='{escape(wanted)}'>"
        f"<button>Search</button></form><div class=cards>{cards}</div>",
    )


def build_product(number: int) -> str:
    """Build a product that is put into the cart without leaving the page."""
    _, name, text = list_products()[number - 1]
    writer = WordSource()
    reviews = "".join(
        f"<li>{writer.draw_sentence(20)} <a href='/user/{at}'>{writer.draw_words(1)}</a></li>" for at in range(20)
    )
    return build_page(
        name,
        f"<p>{text}</p><b>{number * 7}.90 €</b><div class=field><label for=n>Amount</label> "
        "<select id=n><option>1<option>2<option>3</select></div>"
        '<button onclick="cart.textContent = `In the cart: ${n.value}`">Add to cart</button> <span id=cart></span> '
        f"<a href=/checkout>Checkout</a><h2>Reviews</h2><ul>{reviews}</ul>",
    )


def build_checkout() -> str:
    names = ["Name", "Street", "City", "Card number"]
    fields = "".join(
        f"<div class=field><label for=c{at}>{name}</label> <input id=c{at}></div>" for at, name in enumerate(names)
    )
    return build_page("Checkout", f"<form action=/thanks>{fields}<button>Buy now</button></form>")


PAGE_BUILDERS = {
    "/form": build_form, "/article": build_article, "/table": build_table, "/spa": build_board, "/frames": build_frames,
    "/login": build_login,
    "/checkout": build_checkout,
    "/part": lambda: build_page("Part", f"<p>{WordSource().draw_sentence(40)}</p><button>Go on</button>"),
    "/thanks": lambda: build_page("Thanks", "<p>Thank you.</p>"), "/empty": lambda: "<title>Empty</title>",
}  # fmt: skip


class SiteHandler(PageHandler):
    def build_page(self) -> str:
        asked = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        if asked.path == "/shop":
            return build_shop(query.get("q", ""))
        if asked.path == "/product":
            return build_product(int(query["id"]))
        return PAGE_BUILDERS.get(asked.path, PAGE_BUILDERS["/thanks"])()


def main() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SiteHandler) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
