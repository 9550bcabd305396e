"""`outrider crawl` as a process: its output, and its recovery from a kill."""

import json
import os
from pathlib import Path

import anyio
import pytest

from support.fakes import http_servers
from support.fakes.website import FakeSite, SiteAnswer, SiteRequest
from support.processes import outrider_command
from support.processes.pseudo_terminal import run_in_terminal
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
PAGE_COUNT = 60
TIDE_TEXT = "The tide of number {0} comes in twice a day, and the boats of {0} rise with it until the bell rings. " * 3


def build_page(number: int) -> SiteAnswer:
    links = "".join(
        f'<a href="/p{each}">to {each}</a> ' for each in (number * 2 + 1, number * 2 + 2) if each < PAGE_COUNT
    )
    return SiteAnswer(f"<title>Number {number}</title><main><p>{TIDE_TEXT.format(number)}</p><p>{links}</p></main>")


def build_environment(home: Path, url: str, rate: int = 1_000) -> dict[str, str]:
    """Settings that allow the site, with this many pages per second."""
    allowed = {"OUTRIDER_EGRESS__ALLOW": f"127.0.0.1:{url.rsplit(':', 1)[1]}"}
    return {"HOME": str(home), "PATH": os.environ["PATH"], "OUTRIDER_PAGES__PER_HOST_RATE": str(rate)} | allowed


def build_crawl_command(url: str, *more: str) -> list[str]:
    wanted = ("--output", "pages", "--max-pages", "100", "--max-depth", "9", "--no-sitemap", "--json", *more)
    return outrider_command.build_command("crawl", f"{url}/p0", *wanted)


async def test_a_site_becomes_a_folder_of_markdown(home: Path):
    site = FakeSite({f"/p{number}": build_page(number) for number in range(3)})
    async with http_servers.serve_app(site) as url:
        crawl = build_crawl_command(url)
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            done = await anyio.run_process(crawl, env=build_environment(home, url), cwd=home, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    files = {page["url"].removeprefix(url): home / "pages" / page["kept"] for page in answer["pages"] if "kept" in page}
    assert set(files) == {"/p0", "/p1", "/p2"}
    text = files["/p1"].read_text()
    assert text.startswith(f'---\nurl: {url}/p1\ntitle: "Number 1"\n---\n\n')
    assert "The tide of number 1" in text


async def test_a_narrow_terminal_shows_progress_in_one_line_that_is_cleared(home: Path):
    site = FakeSite({f"/p{number}": build_page(number) for number in range(3)})
    async with http_servers.serve_app(site) as url:
        command = outrider_command.build_command("crawl", f"{url}/p0", "--no-sitemap")
        environ = build_environment(home, url) | {"COLUMNS": "40"}
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            code, shown = await anyio.to_thread.run_sync(run_in_terminal, command, environ)
    assert code == 0, shown
    lines = shown.split("\r\x1b[K")
    assert "read, " in lines[1]
    assert max(map(len, lines[:-1])) < 40
    assert lines[-1].startswith(f"{url}/p0")


async def test_a_killed_crawl_continues_and_reads_no_page_twice(home: Path):
    fatal = anyio.Event()
    site = FakeSite({})

    def answer(request: SiteRequest) -> SiteAnswer:
        if len(site.requests) > PAGE_COUNT // 2:
            fatal.set()
        return build_page(int(request.path.removeprefix("/p")))

    site.routes = {f"/p{number}": answer for number in range(PAGE_COUNT)}
    concurrent = 8
    async with http_servers.serve_app(site) as url:
        crawl = build_crawl_command(url)
        environment = build_environment(home, url, rate=2 * concurrent)
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            process = await anyio.open_process(crawl, env=environment, cwd=home)
            await fatal.wait()
            process.kill()
            await process.wait()
            asked = site.list_paths()
            done = await anyio.run_process(crawl, env=environment, cwd=home, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["status"], told["round"], told["read"]) == ("finished", 1, PAGE_COUNT)
    assert len(list((home / "pages").glob("*.md"))) == PAGE_COUNT
    twice = [path for path in site.list_paths()[len(asked) :] if path in asked and path != "/robots.txt"]
    assert len(twice) <= concurrent  # the pages that were being read when it died
