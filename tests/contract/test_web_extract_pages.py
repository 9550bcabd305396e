"""Toolset `web`: web_extract on lists over several pages, as sites link them, and the files it writes."""

from pathlib import Path

import pytest

from support.apps import loopback_app

pytestmark = pytest.mark.anyio

PAGERS = {
    "numbers": "<div class=pagination><a href=/numbers1>1</a> <span class=current>{page}</span> {numbers}</div>",
    "icon": "<ul><li class=pager-prev><a href=/icon1></a><li class=pager-next><a href=/icon{next}><svg></svg></a></ul>",
    "more": "<a href=/more{next}>Load more kettles</a>",
    "title": '<a title="Next page" href=/title{next}><i class=arrow></i></a>',
    "days": "<table class=calendar><tr><td class=current>{page}<td><a href=/days{next}>{next}</a></table>",
}


def build_page(kind: str, page: int) -> str:
    rows = "".join(f"<tr><td>Kettle {page}{n}<td>{9 if n > 1 else ''}</tr>" for n in (1, 2, 3))
    numbers = " ".join(f"<a href=/numbers{n}>{n}</a>" for n in range(page + 1, 4))
    pager = PAGERS[kind].format(page=page, next=page + 1, numbers=numbers) if page < 3 else ""
    return f"<h1>Kettles</h1><table><tr><th>Name<th>Price</tr>{rows}</table>{pager}"


PAGES = loopback_app.build_page_site({
    f"/{kind}{page}": build_page(kind, page) for kind in PAGERS for page in (1, 2, 3)
})  # fmt: skip
KETTLES = {
    "type": "array",
    "items": {"properties": {"colour": "string", "price": "number", "name": "string"}},
}


@pytest.mark.parametrize(("kind", "count"), [("numbers", 9), ("icon", 9), ("more", 9), ("title", 9), ("days", 3)])
async def test_the_next_page_is_known_by_number_class_and_label_but_not_by_day(home: Path, kind: str, count: int):
    async with loopback_app.open_loopback_app(home, PAGES) as loopback:
        url = f"{loopback.site_url}/{kind}1"
        data = (await loopback.app.call("web_extract", url=url, schema=KETTLES, max_pages=9)).data
    assert len(data["items"]) == count


async def test_the_columns_of_a_file_are_the_fields_in_their_order(home: Path):
    async with loopback_app.open_loopback_app(home, PAGES) as loopback:
        url = f"{loopback.site_url}/more3"
        await loopback.app.call("web_extract", url=url, schema=KETTLES, filename="kettles.csv")
        saved = await loopback.app.call("read_file", path="kettles.csv")
    assert [line for line in saved.text.splitlines() if "," in line] == [
        "colour,price,name", ",,Kettle 31", ",9,Kettle 32", ",9,Kettle 33"
    ]  # fmt: skip
