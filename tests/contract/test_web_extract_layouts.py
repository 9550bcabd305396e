"""Toolset `web`: web_extract on tables, lists, dates and labels as many sites lay them out."""

from pathlib import Path
from typing import Any

import pytest

from support.apps import loopback_app

pytestmark = pytest.mark.anyio

DATE = {"type": "string", "format": "date"}
ADDRESS = {"type": "string", "format": "uri"}
LIST = {"type": "array", "items": {"type": "string"}}

HARBOURS = """<table><tr><td colspan=3>North</td></tr>
<tr><td>COAST</td><td><a href=?s=w title=Wins>W</a></td><td><span title="Losses">L</span></td></tr>
<tr><td>Oban</td><td>7</td><td>2</td></tr><tr><td>Wick</td><td>4</td><td>5</td></tr>
<tr><td>ISLES</td><td>W</td><td>L</td></tr><tr><td>Lerwick</td><td>3</td><td>3</td></tr></table>"""
RULINGS = """<p>Sitting of 12/29/2025</p><table><tr><th>Decision Date</th><th>Person Name</th><th>File</th></tr>
<tr><td>02/03/2026</td><td>Ada Berg</td><td><a href="/d/1 berg.pdf">Text</a></td></tr>
<tr><td>11/04/2026</td><td>Tom Field</td><td><a href="/d/2.pdf">Text</a></td></tr></table>"""
SAILINGS = """<table><tr><td>&nbsp;<td>&nbsp;<td>&nbsp;</tr>
<tr><td data-label=Ship>Isle of Mull</td><td headers="Berth Isle-of-Mull">4</td><td><a href=/p/1>Papers</a></td></tr>
<tr><td data-label=Ship>Loch Fyne</td><td headers="Berth Loch">2</td><td><a href=/p/2>Papers</a></td></tr></table>"""
HEARINGS = """<table><tr><th>Hearing Type</th><th>Judge</th><th>Documents</th></tr>
<tr><td>First</td><td>Berg</td><td><table><tr><td>PDF</td></tr></table></td></tr>
<tr><td>Second</td><td>Field</td><td><table><tr><td>PDF</td></tr></table></td></tr></table>
<table><tr><td>Filed On</td><th>#</th><td>Text</td></tr><tr><td>3 May 2026</td><td>1</td><td>Motion</td></tr>
<tr><td>4 May 2026</td><td>2</td><td>Order</td></tr></table>
<table><tr><th>Appeal</th><th>Outcome</th></tr><tr><td>A-1</td><td>Overruled</td></tr></table>
<table><tr><td>May 2026</td><td colspan=2>* revised</td></tr><tr><td>Filing</td><td>Clerk</td><td>Opinion</td></tr>
<tr><td>F-1</td><td>Rae</td><td>Affirmed</td></tr><tr><td>F-2</td><td>Rae</td><td>Reversed</td></tr></table>
<table><tr><td>June 2026</td><td colspan=2>* revised</td></tr><tr><td>Filing</td><td>Clerk</td><td>Opinion</td></tr>
<tr><td>F-3</td><td>Moy</td><td>Affirmed</td></tr></table>
<p>Changed: today \u30fb Case code: A-17</p><article class="time">3:00 pm</article>"""
MEETINGS = """<ul><li class=past><span>Aug. 14, 2026, 10:30 a.m., Room 339</span></li>
<li class=past><span>Tue, Oct 6 2026, 9 - 11am</span></li><li><span>Dec 11, 2026 6:30 PM - 8 PM</span></li></ul>
<div><article class=m><h3>Minutes 9-18-25</h3><a href=/m/1>Read</a></article><article class=m><h3>Minutes 10-16-25</h3>
<a href=/m/2>Read</a></article></div>"""
RECIPE = """<h1>Fish Soup</h1><div><div><h3>Ingredients</h3></div></div><div><h4>Broth</h4><ul><li>1 l water</li>
<li>2 <a href=/leek>leeks</a></li></ul><h4>Fish</h4><ul><li>400 g cod</li></ul></div>
<section><h3>Method</h3><div><p>Boil the leeks.</p><p>Add the cod.</p></div></section>
<ol class="tool-list"><li>Pot</li><li>Ladle</li></ol><b title="Difficulty: Very easy">Very easy</b>
<h2>Notes</h2><p>A note.</p><p><b>Sponsor:</b> Oban Quay <b>Email:</b> <a href=mailto:ada@oban.example>Berg, Ada</a>
<b>Genre:</b> <a>Soup</a>, <a>Fish</a></p><div>Location: , Oban</div><p class=c-tools__tools-shop-link>Pot shop</p>"""
EVENTS = "".join(
    f"<div itemscope itemtype=https://schema.org/Event><div style='display:none'><b itemprop=name>Quay {n}</b>"
    f"<b itemprop=location>Berth {n}</b></div></div>"
    for n in (1, 2)
)
PAPER = """<title>Tides</title><meta name=citation_title content="Tides of Oban">
<meta name=citation_abstract content="Tides rise."><meta name=description content="A page about tides.">
<meta name=citation_author content="Ada Berg"><meta name=citation_author content="Tom Field">
<meta name=DC.Date.Created content=2010-03-10><div class=vs-item><div class=vs-item-time>7:30 PM</div></div>"""
FILES = """<table><thead><tr><td colspan=3><table><thead><tr><th>Pager</th></tr></thead></table></td></tr>
<tr><th>File #</th><th>Type</th><th>Status</th></tr></thead><tfoot><tr><td colspan=3>Pages</td></tr></tfoot>
<tbody><tr><td>26-1</td><td>Plan</td><td>Ready</td></tr><tr><td>26-2</td><td>Budget</td><td>Filed</td></tr></tbody>
</table><table><tr><th rowspan=3>Note</th><th rowspan=3>Text</th></tr></table><table></table>
<ul><li>Date: 3 May 2026</li><li><a href=/map>Berth 4</a> Place: Oban</li></ul>"""
TEAMS = "".join(
    f"<div class=card><div class=card-title>{name}</div><div class=meeting-time>9:0{n} am</div>"
    f"<div class=card-place>{place}</div><a href=/t/{n}>{n}00</a> <a href=/cup>Cup</a></div>"
    for n, (name, place) in enumerate([("TBD", "Place(s):"), ("Oban", "Quay"), ("Wick", "Pier")], 1)
)
FILM = """<title>Harbour Films | Crane | Reviews</title><meta property=og:title content="Crane (1986) 7.8 | Drama">
<meta name=analytics-location content=/film><meta name=description content="<p>A film.</p>">
<script type="application/ld+json">{"@type": "Movie", "name": "Crane"}</script>
<dl><dt>Kilometerstand<dd>179\u00a0188 km</dl><div>Studio <span>(from 1986)</span></div>
<p>Ingredients</p><ul><li>Salt</li><li>Fish</li></ul>"""
PLAYER = """<title>Harbour Sport | Ada Berg | Stats</title><h1><a href=/>Harbour Sport</a></h1><h1>Ada Berg</h1>
<div itemscope><b itemprop=name>Harbour Sport Stats</b></div><div itemscope><b itemprop=name>Ada Berg</b></div>"""
NEWS = "".join(
    f"<div class=story><a href=/all><img></a><a href=/n{n}><div>Quay {n}</div><div>It has opened.</div></a>"
    f"<time>May {n}, 2026</time>"
    f"<a href='https://social.example/share?u=https%3A%2F%2Foban.example%2Fn{n}'>Share</a>"
    f"<a href=/all>Listen</a></div>"
    for n in range(1, 4)
)
JOURNAL = """<script type="application/ld+json">{"@type": "WebPage", "datePublished": "2026-01-02"}</script>
<meta name=author content=Ada><p>Author: Ada Berg</p><div class=author>Ada Berg</div>
<div><p>Code: A-17 Report it</p></div><p>Code: A-17</p>
<meta name=journal_id content=41586><meta name=citation_journal_title content=Tides><p>May 5, 2026 | 6:30 pm</p>
<ul class=parts-list><li>\u25a2 Mast</li><li>\u25a2 Keel</li></ul>"""
PAGES = loopback_app.build_page_site({
    "/harbours": HARBOURS, "/rulings": RULINGS, "/sailings": SAILINGS, "/hearings": HEARINGS, "/meetings": MEETINGS,
    "/recipe": RECIPE, "/events": EVENTS, "/paper": PAPER, "/files": FILES, "/teams": TEAMS, "/film": FILM,
    "/player": PLAYER, "/news": NEWS, "/journal": JOURNAL,
})  # fmt: skip


def list_of(**fields: Any) -> dict[str, Any]:
    properties = {name: {"type": each} if isinstance(each, str) else each for name, each in fields.items()}
    return {"type": "array", "items": {"type": "object", "properties": properties}}


async def extract_rows(home: Path, path: str, schema: dict[str, Any]) -> list[Any]:
    async with loopback_app.open_loopback_app(home, PAGES) as loopback:
        data = (await loopback.app.call("web_extract", None, url=f"{loopback.site_url}{path}", schema=schema)).data
        text = loopback.site_url
    return [
        {name: value.removeprefix(text) if isinstance(value, str) else value for name, value in row["data"].items()}
        for row in data["items"]
    ]


async def test_columns_are_known_by_the_full_form_of_their_heading_and_by_their_kind(home: Path):
    assert await extract_rows(home, "/harbours", list_of(wins="integer", losses="integer")) == [
        {"wins": 7, "losses": 2}, {"wins": 4, "losses": 5}, {"wins": 3, "losses": 3}
    ]  # fmt: skip
    rows = await extract_rows(home, "/rulings", list_of(date=DATE, name="string", url=ADDRESS))
    assert rows == [
        {"date": "2026-02-03", "name": "Ada Berg", "url": "/d/1%20berg.pdf"},
        {"date": "2026-11-04", "name": "Tom Field", "url": "/d/2.pdf"},
    ], "12/29 shows that the month is first"
    described = {"type": "string", "description": "name of the judge"}
    rows = await extract_rows(home, "/hearings", list_of(who=described, hearing_type="string"))
    assert [row["who"] for row in rows] == ["Berg", "Field"]


async def test_cells_have_labels_of_their_own_and_links_named_by_their_text(home: Path):
    assert await extract_rows(home, "/sailings", list_of(ship="string", berth="integer", papers_url=ADDRESS)) == [
        {"ship": "Isle of Mull", "berth": 4, "papers_url": "/p/1"},
        {"ship": "Loch Fyne", "berth": 2, "papers_url": "/p/2"},
    ]


async def test_tables_in_cells_and_marked_headings_do_not_hide_a_table(home: Path):
    assert await extract_rows(home, "/hearings", list_of(hearing_type="string", judge="string")) == [
        {"hearing_type": "First", "judge": "Berg"}, {"hearing_type": "Second", "judge": "Field"}
    ]  # fmt: skip
    assert await extract_rows(home, "/hearings", list_of(filed_on=DATE, number="integer", text="string")) == [
        {"filed_on": "2026-05-03", "number": 1, "text": "Motion"},
        {"filed_on": "2026-05-04", "number": 2, "text": "Order"},
    ]
    assert await extract_rows(home, "/hearings", list_of(filing="string", clerk="string", opinion="string")) == [
        {"filing": "F-1", "clerk": "Rae", "opinion": "Affirmed"},
        {"filing": "F-2", "clerk": "Rae", "opinion": "Reversed"},
        {"filing": "F-3", "clerk": "Moy", "opinion": "Affirmed"},
    ], "tables with headings below their title are one list"
    wanted = {"case_code": "string", "start_time": "string", "appeals": list_of(appeal="string", outcome="string")}
    assert await extract_rows(home, "/hearings", wanted) == [
        {"case_code": "A-17", "start_time": "3:00 pm", "appeals": [{"appeal": "A-1", "outcome": "Overruled"}]}
    ], "a table of one row, and short parts"


async def test_rows_begin_with_a_date_and_times_or_have_one_date(home: Path):
    assert await extract_rows(home, "/meetings", list_of(date=DATE, start_time="string", end_time="string")) == [
        {"date": "2026-08-14", "start_time": "10:30 a.m."},
        {"date": "2026-10-06", "start_time": "9am", "end_time": "11am"},
        {"date": "2026-12-11", "start_time": "6:30 PM", "end_time": "8 PM"},
    ]
    assert await extract_rows(home, "/meetings", list_of(title="string", date=DATE, url=ADDRESS)) == [
        {"title": "Minutes 9-18-25", "date": "2025-09-18", "url": "/m/1"},
        {"title": "Minutes 10-16-25", "date": "2025-10-16", "url": "/m/2"},
    ]


async def test_headings_and_classes_name_lists_and_labels_stand_in_a_row(home: Path):
    lists = dict.fromkeys(("ingredients", "method", "tools", "genre"), LIST)
    texts = dict.fromkeys(("difficulty", "sponsor", "location"), "string")
    email = {"type": "string", "format": "email"}
    assert await extract_rows(home, "/recipe", {**lists, **texts, "contact_email": email}) == [{
        "ingredients": ["1 l water", "2 leeks", "400 g cod"], "method": ["Boil the leeks.", "Add the cod."],
        "tools": ["Pot", "Ladle"], "genre": ["Soup", "Fish"], "difficulty": "Very easy", "sponsor": "Oban Quay",
        "location": "Oban", "contact_email": "ada@oban.example",
    }]  # fmt: skip


async def test_hidden_microdata_and_citations_count_but_the_date_of_a_record_does_not(home: Path):
    assert await extract_rows(home, "/events", list_of(name="string", location="string")) == [
        {"name": "Quay 1", "location": "Berth 1"}, {"name": "Quay 2", "location": "Berth 2"}
    ]  # fmt: skip
    wanted = {"title": "string", "abstract": "string", "author": LIST, "date": DATE, "time": "string"}
    assert await extract_rows(home, "/paper", wanted) == [
        {"title": "Tides of Oban", "abstract": "Tides rise.", "author": ["Ada Berg", "Tom Field"], "time": "7:30 PM"}
    ]


async def test_feet_and_pagers_are_not_rows_and_facts_of_one_thing_are_not_a_list(home: Path):
    assert await extract_rows(home, "/files", list_of(file_number="string", type="string", status="string")) == [
        {"file_number": "26-1", "type": "Plan", "status": "Ready"},
        {"file_number": "26-2", "type": "Budget", "status": "Filed"},
    ]
    assert await extract_rows(home, "/files", list_of(date=DATE, place="string", title="string", url=ADDRESS)) == []


async def test_a_stated_absence_a_label_and_a_count_are_not_values(home: Path):
    wanted = list_of(name="string", time="string", place="string")
    assert await extract_rows(home, "/teams", wanted) == [
        {"name": "Oban", "time": "9:02 am", "place": "Quay"},
        {"name": "Wick", "time": "9:03 am", "place": "Pier"},
    ]


async def test_the_subject_gives_the_title_and_the_site_does_not(home: Path):
    wanted = {
        **dict.fromkeys(("title", "location", "description", "studio"), "string"), "kilometerstand_km": "integer",
        "ingredients": LIST,
    }  # fmt: skip
    assert await extract_rows(home, "/film", wanted) == [
        {"title": "Crane", "description": "A film.", "kilometerstand_km": 179188, "ingredients": ["Salt", "Fish"]}
    ]
    assert await extract_rows(home, "/player", {"name": "string"}) == [{"name": "Ada Berg"}]
    assert await extract_rows(home, "/player", {"title": "string"}) == [{"title": "Ada Berg"}]


async def test_links_to_share_a_page_and_whole_cards_are_not_its_address_and_title(home: Path):
    wanted = list_of(title="string", date=DATE, url=ADDRESS)
    assert await extract_rows(home, "/news", wanted) == [
        {"date": f"2026-05-0{n}", "url": f"/n{n}"} for n in range(1, 4)
    ]


async def test_the_date_with_a_time_is_the_event_and_an_id_is_not_the_thing(home: Path):
    wanted = {**dict.fromkeys(("journal", "author", "code"), "string"), "date": DATE, "parts": LIST}
    assert await extract_rows(home, "/journal", wanted) == [
        {"journal": "Tides", "author": "Ada Berg", "code": "A-17", "date": "2026-05-05", "parts": ["Mast", "Keel"]}
    ]
