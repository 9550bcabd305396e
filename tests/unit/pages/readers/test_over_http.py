"""Documents over HTTP: wrong types, excessive sizes, fragments."""

import pytest

from outrider.core.errors import Refused
from support.busy_machine import scale_to_load
from support.documents.office_files import build_all_kinds, build_docx, build_paragraph
from support.fakes.website import FakeSite, SiteAnswer, build_pdf, build_positioned_pdf, open_pages

pytestmark = pytest.mark.anyio
KINDS = build_all_kinds()


@pytest.mark.parametrize(
    ("kind", "declared", "read_as"),
    [
        ("word", "application/octet-stream", "word"),
        ("excel", "application/zip", "excel"),
        ("excel", "application/vnd.ms-excel", "excel"),
        ("powerpoint", "text/html", "powerpoint"),
        ("epub", "application/epub+zip", "epub"),
        ("odt", "text/plain", "opendocument"),
        ("rtf", "application/msword", "rtf"),
        ("mail", "message/rfc822", "mail"),
        ("notebook", "application/json", "notebook"),
        ("csv", "application/vnd.ms-excel", "table"),
        ("srt", "text/plain", "subtitles"),
        ("vtt", "text/vtt", "subtitles"),
    ],
)
async def test_the_content_decides_whatever_the_declared_type(kind: str, declared: str, read_as: str):
    suffix = {"notebook": "x.ipynb", "csv": "x.csv", "srt": "x.srt"}.get(kind, "x")
    async with open_pages(FakeSite({f"/{suffix}": SiteAnswer(KINDS[kind], declared)})) as (pages, url):
        assert (await pages.read(f"{url}/{suffix}")).document.kind == read_as


async def test_an_oversized_document_is_requested_again_in_full():
    body = build_docx(build_paragraph("Lights", "berschrift1"))
    site = FakeSite({"/": SiteAnswer(body, "application/octet-stream")})
    async with open_pages(site, max_bytes=1_000) as (pages, url):
        page = await pages.read(url)
    assert len(body) > 1_000
    assert page.document.markdown == "# Lights"
    assert len(site.requests) == 2


async def test_an_address_with_a_pdf_page_is_read_from_that_page():
    async with open_pages(FakeSite({"/a.pdf": SiteAnswer(build_pdf("one", "two", "three"), "application/pdf")})) as (
        pages,
        url,
    ):
        whole = await pages.read(f"{url}/a.pdf")
        rest = await pages.read(f"{url}/a.pdf#page=3")
        again = await pages.read(f"{url}/a.pdf#zoom=100&page=3")
    assert "one" in whole.document.text
    assert rest.document.text == "--- page 3 of 3 ---\n\nthree"
    assert (rest.url, rest.requested_url) == (f"{url}/a.pdf#page=3",) * 2
    assert again.from_cache


async def test_a_web_page_ignores_page_fragments_and_is_cached_once():
    async with open_pages(FakeSite({"/a": SiteAnswer("<h1>Lights</h1><p>Seen from ships.")})) as (pages, url):
        await pages.read(f"{url}/a")
        again = await pages.read(f"{url}/a#page=3")
        found = await pages.search_cached("lights")
    assert (again.from_cache, again.url, again.requested_url) == (True, f"{url}/a", f"{url}/a")
    assert len(found) == 1


async def test_a_page_fragment_is_not_part_of_the_cache_key():
    async with open_pages(FakeSite({"/a": SiteAnswer("<h1>Lights</h1><p>Seen from ships.")})) as (pages, url):
        first = await pages.read(f"{url}/a#page=3")
        again = await pages.read(f"{url}/a")
        found = await pages.search_cached("lights")
    assert (first.from_cache, first.requested_url, again.from_cache) == (False, f"{url}/a", True)
    assert len(found) == 1


async def test_a_slow_document_is_not_reported_as_a_server_failure():
    slow = build_positioned_pdf([(10, 9 * (at % 80), 8, f"{at} " + "word " * 40) for at in range(8_000)])
    limit_s = scale_to_load(0.5)  # fetching it takes a tenth of that, and reading it four times as long
    async with open_pages(FakeSite({"/a.pdf": SiteAnswer(slow, "application/pdf")}), timeout_s=limit_s) as (pages, url):
        with pytest.raises(Refused) as caught:
            await pages.read(f"{url}/a.pdf")
    assert caught.value.code == "slow_document"
    assert f"takes longer than the {limit_s:g} seconds" in caught.value.message
    assert "pages.timeout_s" in caught.value.hint


async def test_a_page_declared_as_a_workbook_is_read_as_a_page():
    async with open_pages(
        FakeSite({"/": SiteAnswer("<html><table><tr><td>a</table>", "application/vnd.ms-excel")})
    ) as (
        pages,
        url,
    ):
        assert (await pages.read(url)).document.kind == "article"
