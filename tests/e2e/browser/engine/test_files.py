"""Uploads, downloads, screenshots and PDFs."""

from contextlib import chdir
from pathlib import Path

import pytest

from outrider.browser.actions.page_tools import get_page_tools
from outrider.browser.page.screenshot import print_pdf, take_screenshot
from outrider.core.errors import InvalidInput, NotFound, Refused, Unavailable
from support.timeouts import EVENT_TIMEOUT_S

WORLD = "test"


async def click_element(page, selector):
    await page.evaluate_in("", "(selector) => document.querySelector(selector).click()", selector)


async def test_a_download_arrives_whole_in_its_folder(open_session, tmp_path):
    session = await open_session("/downloads")
    async with session.acquire_page() as page:
        await click_element(page, "#report")
        assert await page.loading.wait_until(lambda: session.downloads.total == 1, EVENT_TIMEOUT_S)
    done = await session.downloads.wait_until_finished()
    assert (done.state, done.name, done.size) == ("done", "report.csv", 8)
    assert done.path == "downloads/report.csv"
    assert (tmp_path / done.path).read_text() == "a,b\n1,2\n"


async def test_a_second_download_of_a_name_leaves_the_first_alone(open_session, tmp_path):
    session = await open_session("/downloads")
    async with session.acquire_page() as page:
        for number in (1, 2):
            await click_element(page, "#report")
            assert await page.loading.wait_until(
                lambda wanted=number: session.downloads.total == wanted, EVENT_TIMEOUT_S
            )
            await session.downloads.wait_until_finished()
    assert sorted(path.name for path in (tmp_path / "downloads").iterdir()) == ["report (1).csv", "report.csv"]


async def test_names_of_downloads_are_made_safe(open_session, tmp_path):
    session = await open_session("/downloads")
    async with session.acquire_page() as page:
        await click_element(page, "#nasty")
        assert await page.loading.wait_until(lambda: session.downloads.total == 1, EVENT_TIMEOUT_S)
    done = await session.downloads.wait_until_finished()
    assert done.path
    assert Path(done.path).parent == Path("downloads")
    assert "\u202e" not in done.name
    assert ".." not in done.name


async def test_data_created_by_a_page_is_downloaded_too(open_session, tmp_path):
    session = await open_session("/downloads")
    async with session.acquire_page() as page:
        await click_element(page, "#blob")
        assert await page.loading.wait_until(lambda: session.downloads.total == 1, EVENT_TIMEOUT_S)
    done = await session.downloads.wait_until_finished()
    assert done.path
    assert (done.name, (tmp_path / done.path).read_text()) == ("note.txt", "from the page")


async def test_a_download_that_is_too_large_is_refused_and_leaves_nothing(open_session, tmp_path):
    session = await open_session("/downloads")
    async with session.acquire_page() as page:
        await click_element(page, "#big")
        assert await page.loading.wait_until(lambda: session.downloads.total == 1, EVENT_TIMEOUT_S)
    assert (await session.downloads.wait_until_finished()).state == "refused"
    assert not (tmp_path / "downloads").exists()


async def test_a_session_without_a_workspace_keeps_no_downloads(open_session, tmp_path):
    session = await open_session("/downloads", workspace=None)
    with chdir(tmp_path):
        async with session.acquire_page() as page:
            await click_element(page, "#report")
            assert await page.loading.wait_until(lambda: session.downloads.total == 1, EVENT_TIMEOUT_S)
        done = await session.downloads.wait_until_finished()
    assert done.state in ("refused", "failed")
    assert not list(tmp_path.rglob("report*"))
    with pytest.raises(Unavailable, match="no files"):
        await session.stage_uploads(["a.txt"])


@pytest.mark.nightly
async def test_a_page_with_endless_downloads_does_not_fill_the_disk(open_session, tmp_path):
    session = await open_session("/downloads")
    script = "() => { setInterval(() => document.querySelector('#report').click(), 5) }"
    async with session.acquire_page() as page:
        await page.evaluate_in("", script)
        assert await page.loading.wait_until(lambda: session.downloads.total > 40, EVENT_TIMEOUT_S)
        await page.evaluate_in("", "() => { for (let id = setTimeout(() => 0); id; id--) clearInterval(id) }")
    await session.downloads.wait_until_finished()
    states = {each.state for each in session.downloads.entries}
    assert "refused" in states
    assert len(list((tmp_path / "downloads").iterdir())) <= 20
    async with session.acquire_page() as page:
        total = session.downloads.total
        await click_element(page, "#report")
        assert await page.loading.wait_until(lambda: session.downloads.total > total, EVENT_TIMEOUT_S)
    assert (await session.downloads.wait_until_finished()).state == "done"


async def test_waiting_without_a_download_is_answered_at_once(open_session):
    session = await open_session()
    with pytest.raises(NotFound, match="nothing has been downloaded"):
        await session.downloads.wait_until_finished()


async def test_files_of_the_workspace_are_uploaded(open_session, tmp_path):
    (tmp_path / "a.txt").write_text("first")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.txt").write_text("second")
    session = await open_session("/upload")
    copies = await session.stage_uploads(["a.txt", str(tmp_path / "folder" / "b.txt")])
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").symlink_to("/etc/passwd")  # too late, because the copy is sent
    async with session.acquire_page() as page:
        await get_page_tools(page).forms.upload("input", *copies)
        assert await page.evaluate_in(WORLD, "() => document.querySelector('output').textContent") == "a.txt 5, b.txt 6"
        commits = page.loading.commits
        await click_element(page, "button")
        assert await page.loading.wait_until(lambda: page.loading.commits > commits, EVENT_TIMEOUT_S)
        got = await page.evaluate_in(WORLD, "() => JSON.parse(document.body.innerText)")
    assert got == {"a.txt": "first", "b.txt": "second"}
    await session.aclose()
    assert not copies[0].exists()


async def test_files_outside_the_workspace_are_not_uploaded(open_session, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "secret").write_text("x")
    (workspace / "link").symlink_to(tmp_path / "secret")
    session = await open_session("/upload", workspace=workspace)
    for name in ("../secret", str(tmp_path / "secret"), "link", "/etc/passwd"):
        with pytest.raises(Refused, match="paths: "):
            await session.stage_uploads([name])
    with pytest.raises(NotFound):
        await session.stage_uploads(["nothing"])
    with pytest.raises(InvalidInput):
        await session.stage_uploads(["."])


def size_of(png: bytes) -> tuple[int, int]:
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


async def test_pictures_show_the_viewport_the_page_or_an_element(open_session):
    session = await open_session("/article", size=(500, 400))
    async with session.acquire_page() as page:
        picture = await take_screenshot(page)
        assert size_of(picture.data) == (500, 400)
        whole = await take_screenshot(page, full=True)
        assert size_of(whole.data)[1] > 2_000
        assert not whole.cut
        element = await page.evaluate_handle_in(WORLD, "() => document.getElementById('fog')")
        part = await take_screenshot(page, element=element)
        assert size_of(part.data) == (part.width, part.height)
        assert part.height < 60
        photo = await take_screenshot(page, format="jpeg", quality=30)
        assert photo.data.startswith(b"\xff\xd8")


@pytest.mark.nightly
async def test_a_picture_of_an_endless_page_is_cut(open_session):
    session = await open_session("/table")
    async with session.acquire_page() as page:
        whole = await take_screenshot(page, full=True, format="jpeg", quality=1)
        assert whole.cut
        assert whole.height <= 16_384


async def test_a_page_is_printed_with_its_print_styles(open_session):
    import pypdfium2

    session = await open_session("/print")
    async with session.acquire_page() as page:
        data = await print_pdf(page)
        with pytest.raises(InvalidInput, match="paper"):
            await print_pdf(page, paper="papyrus")
    document = pypdfium2.PdfDocument(data)
    text = document[0].get_textpage().get_text_bounded()
    assert len(document) == 2
    assert "Only on paper" in text
    assert "Only on screens" not in text
    document.close()
