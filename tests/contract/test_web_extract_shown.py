"""Toolset `web`: web_extract on what pages show to readers, without markup for machines."""

from pathlib import Path
from typing import Any

import pytest

from support.apps import loopback_app

pytestmark = pytest.mark.anyio


def build_card(number: int) -> str:
    rating = f'<i aria-label="4.{number} out of 5 stars"></i><span>1,{number}00 reviews</span>'
    prices = f"<span>Now $1{number}.00</span><span class=strike>$2{number}.00</span><em>$10 off</em><b>Save $9</b>"
    return (
        f'<li class="cell x{number}"><h4>View details</h4><h2><a href=/p{number}>Lamp {number}</a></h2>'
        f"<div class=row><div>{prices}</div></div><p>{rating}</p><p>by Ada Berg</p></li>"
    )


LAMP_MENU = "".join(
    f'<li class="top-menu__item"><a class=top-menu__link href=/m{n}>Department {n}</a></li>' for n in range(60)
)
LAMP_SHOP = f"<h1>Lamps</h1><ul>{LAMP_MENU}</ul><ul>{''.join(map(build_card, range(1, 5)))}</ul>"
LAMPS = {
    "name": "string", "price": "number", "old_price": "number", "rating": "number", "reviews": "integer",
    "author": "string", "link": {"type": "string", "format": "uri"},
}  # fmt: skip
CRANE_ARTICLE = """<html lang=en><title>Harbour Cranes of Oban - The Pilot's Log</title><meta name=twitter:creator
content=oban><header><h1>The Pilot's Log</h1></header>
<script type="application/ld+json">[{"@type": "SiteNavigationElement", "name": "Boats"}, {"@type": "Article",
"headline": "Cranes", "publisher": {"@type": "Organization", "name": "Oban Press"}}]</script>
<h1>Harbour Cranes\u2122 of Oban <a href=#top>\u00b6</a></h1>
<div><p>By <a>Ada Berg</a></p><div><a>Share</a> <a>Pin</a></div></div>
<p>March 5, 2026</p><p>9 min read</p>
<p>Last updated on 17 December 2026.</p><a href="tel:0631%20555">Call</a> <a href="tel:0631555">Call 0631-555</a>
<p>Meet your <b>customers, guests and pilots.</b></p>
<p class=code>Call <code>lift</code><b>(</b><i>load</i><b>)</b> now<b>.</b></p>
<table><tr><th>Summary<td>All cranes</table><p><b>Genre:</b> <a>Lists</a>, <a>History</a><br><b>Edition:</b> 2<br>
<div><b>Editor:</b> Tom Field</div></p>
<h2>Crane 1</h2><table><tr><th>Summary<td>Lifts 40 t</table><h2>Crane 2</h2><table><tr><th>Summary<td>Lifts 60 t</table>
<div itemscope><b itemprop=author>Cara</b></div><div itemscope><b itemprop=author>Dan</b></div>
<div itemscope><b itemprop=author>Eve</b></div>"""
CRANE_MANUAL = """<h1>crane</h1><dl><dt>-a<dt>--all<dd><p>Lifts all.</p><p>Slowly.</p><dt>-q<dd>Says nothing.</dl>
<table><tr><th>Column Type Meaning<tr><td>oid oid The row<tr><td>name text Its name</table>"""
CRANE_POSTS = "".join(
    f"<div class=post><h3 class=user>Pilot {n}</h3><div class=message><blockquote><p>Quoted.</p></blockquote>"
    f"<p>The crane number {n} stands at the north quay and lifts forty tons.</p><p>It is green.</p></div></div>"
    for n in range(1, 4)
)
TEASERS = "<div class=card><h3 class=title>Other pages</h3><a class=card-link href=/x>More</a></div>" * 4
SHOWN_PAGES = loopback_app.build_page_site(
    {"/lamps": LAMP_SHOP, "/cranes": CRANE_ARTICLE, "/manual": CRANE_MANUAL, "/forum": CRANE_POSTS, "/links": TEASERS}
)


def list_of(fields: dict[str, Any]) -> dict[str, Any]:
    properties = {name: {"type": each} if isinstance(each, str) else each for name, each in fields.items()}
    return {"type": "array", "items": {"type": "object", "properties": properties}}


async def extract_rows(home: Path, path: str, schema: dict[str, Any]) -> list[Any]:
    async with loopback_app.open_loopback_app(home, SHOWN_PAGES) as loopback:
        url = f"{loopback.site_url}{path}"
        data = (await loopback.app.call("web_extract", None, url=url, schema=schema)).data
    return [row["data"] for row in data["items"]]


async def test_cards_of_a_list_are_told_from_menus_buttons_and_savings(home: Path):
    rows = await extract_rows(home, "/lamps", list_of(LAMPS))
    assert [{**row, "link": row["link"][-3:]} for row in rows] == [
        {"name": f"Lamp {n}", "price": 10 + n, "old_price": 20 + n, "rating": 4 + n / 10, "reviews": 1000 + n * 100,
         "author": "Ada Berg", "link": f"/p{n}"} for n in range(1, 5)
    ]  # fmt: skip
    book = {"title": "string", "author": "string", "link": {"type": "string", "format": "uri"}}
    assert await extract_rows(home, "/links", list_of(book)) == [], "teasers are not books"


async def test_a_page_is_told_from_its_site_and_its_parts(home: Path):
    date = {"type": "string", "format": "date"}
    wanted = {
        **dict.fromkeys(("title", "author", "phone", "code", "summary", "edition", "job_title", "customers"), "string"),
        "published": date, "updated": date, "reading_time_minutes": "number", "genre": {"type": "array"},
    }  # fmt: skip
    assert await extract_rows(home, "/cranes", wanted) == [
        {"title": "Harbour Cranes\u2122 of Oban", "author": "Ada Berg", "phone": "0631 555",
         "code": "Call lift (load) now.", "summary": "All cranes", "edition": "2", "published": "2026-03-05",
         "updated": "2026-12-17", "reading_time_minutes": 9, "genre": ["Lists", "History"]}
    ]  # fmt: skip


async def test_definitions_and_posts_are_rows(home: Path):
    assert await extract_rows(home, "/manual", list_of({"option": "string", "description": "string"})) == [
        {"option": "-a", "description": "Lifts all."},
        {"option": "--all", "description": "Lifts all."},
        {"option": "-q", "description": "Says nothing."},
    ]
    columns = list_of(dict.fromkeys(("column", "type", "meaning"), "string"))
    assert all("oid oid" not in str(row) for row in await extract_rows(home, "/manual", columns)), (
        "three values in a cell"
    )
    assert await extract_rows(home, "/forum", list_of({"user": "string", "text": "string"})) == [
        {
            "user": f"Pilot {n}",
            "text": f"The crane number {n} stands at the north quay and lifts forty tons. It is green.",
        }
        for n in range(1, 4)
    ]
