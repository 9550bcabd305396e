"""Search through the program `agent-browser`: with a fake of it, and with recorded answers."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured, OutriderError, Unavailable
from outrider.core.http import HttpClient
from outrider.search.agent_browser import AgentBrowser
from outrider.search.hits import clean_text
from outrider.search.outcome import SearchOutcome
from outrider.search.outline import find_results, parse_snapshot
from outrider.search.page_providers import load_engines
from outrider.search.provider import Query, SearchServices
from outrider.search.result_page import parse_result_outline
from outrider.search.search import Search
from outrider.search.selection import load_providers
from outrider.search.settings import DEFAULT_ENGINES, AgentBrowserSettings, SearchSettings
from support.busy_machine import scale_to_load
from support.fakes import agent_browser_program, result_pages
from support.timeouts import BROWSER_TIMEOUT_S, EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
SNAPSHOTS = Path(__file__).parents[2] / "data" / "search" / "snapshots"
DIALECTS = ("0.15.1", "0.33.0", "0.41.2")
RECORDED_AT = "http://127.0.0.1:8000"  # the addresses of the recorded pages
PROXY = "http://outrider:t0ken@127.0.0.1:9"
TEA_QUERY = Query("oolong tea", count=5)
FIRST_TITLE = "Oolong, between green & black"
SECOND = "The gardens of Formosa"


def build_pages(dialect: str = "0.41.2", **kinds: str) -> dict[str, tuple[str, str]]:
    """Build the pages at the engines' addresses: results, unless named otherwise."""
    seen: dict[str, tuple[str, str]] = {}
    for engine, place in (("google", "google."), ("bing", "bing."), ("duckduckgo", "duckduckgo.")):
        kind = kinds.get(engine, "results")
        shown = (SNAPSHOTS / f"{dialect}_{engine}.txt").read_text() if kind == "results" else "- paragraph"
        seen[place] = (
            shown.replace(RECORDED_AT, load_engines()[engine].base_url),
            result_pages.read_result_page(engine, kind),
        )
    return seen


def install_fake_program(folder: Path, **behaviour: Any) -> Path:
    return agent_browser_program.install_program(folder / "program", **{"pages": build_pages(), **behaviour})


def open_search(
    tmp_path: Path, *, timeout: float = 60, engines: Sequence[str] = DEFAULT_ENGINES, **settings: Any
) -> Search:
    """A search that only asks the program."""
    chosen = AgentBrowserSettings.model_validate(settings)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    environ = {"PATH": path, "HOME": str(tmp_path), "NPM_CONFIG_CACHE": "/c", "BRAVE_API_KEY": "s3cret"}
    cli = AgentBrowser(
        chosen,
        tmp_path / "data",
        engines=engines,
        proxy_url=lambda: PROXY,
        executable=lambda: "/the/browser",
        environ=environ,
    )
    every = SearchSettings(
        disabled=sorted(set(load_providers()) - {"agent_browser"}), providers={"agent_browser": {"timeout_s": timeout}}
    )
    return Search(HttpClient(EgressGuard()), every, None, build_services=lambda: SearchServices(agent_browser=cli))


async def run_search(search: Search, query: Query = TEA_QUERY) -> SearchOutcome:
    with anyio.fail_after(BROWSER_TIMEOUT_S):
        return await search.find(query, browse=True)


async def read_failure(search: Search) -> dict[str, Any]:
    """The program's only attempt, with the error of the search."""
    with pytest.raises(OutriderError) as caught:
        await run_search(search)
    return caught.value.details["attempts"][-1] | {"hint": caught.value.hint}


async def wait_until_gone(*pids: int) -> bool:
    """Wait until the processes have ended; an uncollected one is a zombie."""
    with anyio.move_on_after(EVENT_TIMEOUT_S):
        for pid in pids:
            stat = Path(f"/proc/{pid}/stat")
            with suppress(OSError):
                while stat.read_text().rpartition(")")[2].split()[0] != "Z":
                    await anyio.sleep(0.01)
        return True
    return False


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("engine", ["google", "bing", "duckduckgo"])
def test_snapshots_in_every_dialect_are_parsed(dialect, engine):
    lines = parse_snapshot((SNAPSHOTS / f"{dialect}_{engine}.txt").read_text())
    items = parse_result_outline(load_engines()[engine], f"{RECORDED_AT}/{engine}/search?q=oolong", lines)
    snippets = {clean_text(item["title"]): clean_text(item["snippet"]) for item in items}
    assert {FIRST_TITLE, SECOND} <= set(snippets)
    assert "Half way between two worlds:" in snippets[FIRST_TITLE]
    assert snippets[SECOND].startswith("High mountain leaves, rolled by hand.")
    assert "example ›" not in snippets[FIRST_TITLE]
    assert not {"Buy oolong", "Buy oolong now"} & set(snippets)
    assert any(item["url"].endswith("?a=1&b=2") for item in items)


AWKWARD = {
    "one bracket": (
        '- link "a \\"b\\" c" [ref=e1, url=https://x.example/a,b]c?d=[e]]\n  - heading "a \\"b\\" c" [level=3, ref=e2]',
        "https://x.example/a,b]c?d=[e]",
    ),
    "a bracket in the name": (
        '- link "a \\" [ref=e5]b\\" c":\n  - /url: https://x.example/\n  - heading "a \\" [ref=e6]b\\" c" [level=3]',
        "https://x.example/",
    ),
    "a quoted key": (
        (
            '- \'link "a \\"b\\" c: d" [ref=e1]\':\n  - /url: "https://x.example/#"\n'
            '  - heading "a \\"b\\" c" [ref=e2] [level=3]'
        ),
        "https://x.example/#",
    ),
}


@pytest.mark.parametrize("case", AWKWARD)
def test_names_and_addresses_with_quotes_colons_and_brackets_are_read(case):
    text, url = AWKWARD[case]
    row = find_results(parse_snapshot(text))[0]
    assert row.title == 'a "b" c'
    assert row.url == url


@pytest.mark.parametrize("text", ["(empty page)", "- document", "", "no tree at all", "  - - - "])
def test_an_empty_page_has_no_results(text):
    assert find_results(parse_snapshot(text)) == []


async def test_a_search_opens_the_page_and_reads_its_snapshot(tmp_path: Path):
    one = install_fake_program(tmp_path)
    answer = await run_search(open_search(tmp_path, command=str(one)))
    assert [hit.title for hit in answer.hits][:2] == [FIRST_TITLE, SECOND]
    assert answer.hits[1].url == "https://garden.example/formosa?a=1&b=2"
    assert (answer.provider, answer.source) == ("agent_browser", "google")


async def test_every_visit_has_a_name_a_folder_and_an_environment_of_its_own(tmp_path: Path):
    one = install_fake_program(tmp_path)
    search = open_search(tmp_path, command=str(one))
    await run_search(search)
    await run_search(search, Query("other"))
    asked = [each for each in agent_browser_program.read_calls(one) if each["argv"] != ["--version"]]
    assert [each["argv"][0] for each in asked] == ["open", "open", "snapshot", "close"] * 2
    assert all(each["argv"][-3:-1] == ["--json", "--session"] for each in asked)
    assert all(each["argv"][1] == "-u" for each in asked if each["argv"][0] == "snapshot")
    assert len({each["argv"][-1] for each in asked}) == 2
    assert len({each["environ"]["AGENT_BROWSER_SOCKET_DIR"] for each in asked}) == 2
    environ = asked[0]["environ"]
    assert environ["AGENT_BROWSER_PROXY"] == PROXY
    assert environ["AGENT_BROWSER_PROXY_BYPASS"] == "<-loopback>"
    assert environ["AGENT_BROWSER_EXECUTABLE_PATH"] == "/the/browser"
    assert "--disable-quic" in environ["AGENT_BROWSER_ARGS"].splitlines()
    assert "s3cret" not in json.dumps(asked)
    assert not Path(asked[0]["folder"]).exists()


async def test_query_words_never_reach_the_shell_or_the_programs_options(tmp_path: Path):
    one = install_fake_program(tmp_path)
    nasty = "--help $(id) `id`; rm -rf / && \"x\" 'y' \\ | &"
    await run_search(open_search(tmp_path, command=str(one)), Query(nasty, count=5))
    opened = [each["argv"] for each in agent_browser_program.read_calls(one) if each["argv"][0] == "open"][-1]
    assert opened[1].startswith("https://www.google.com/search?q=--help+%24%28id%29+%60id%60%3B+rm")
    assert len(opened) == 5


@pytest.mark.parametrize(("kind", "code"), [("captcha", "captcha"), ("consent", "consent"), ("blocked", "blocked")])
@pytest.mark.nightly
async def test_an_engine_that_blocks_it_is_followed_by_the_next(tmp_path: Path, kind: str, code: str):
    one = install_fake_program(tmp_path, pages=build_pages(google=kind))
    search = open_search(tmp_path, command=str(one))
    assert (await run_search(search)).source == "bing"
    alone = await read_failure(open_search(tmp_path, command=str(one), engines=["google"]))
    assert alone["outcome"] == code


async def test_a_page_that_reports_no_results_is_an_answer(tmp_path: Path):
    one = install_fake_program(tmp_path, pages=build_pages(google="nothing"))
    answer = await run_search(open_search(tmp_path, command=str(one)), Query("qzx captcha qzx"))
    assert answer.hits == ()
    assert answer.source == "google"


async def test_if_every_engine_blocks_it_all_are_named(tmp_path: Path):
    one = install_fake_program(tmp_path, pages=build_pages(google="captcha", bing="captcha", duckduckgo="captcha"))
    attempt = await read_failure(open_search(tmp_path, command=str(one)))
    assert attempt["outcome"] == "captcha"
    assert all(name in attempt["message"] for name in ("Google", "Bing", "DuckDuckGo"))


@pytest.mark.parametrize(
    ("way", "outcome", "message"),
    [
        ("no_json", "bad_reply", "without JSON: something else"),
        ("failing", "unavailable", "ERR_NAME_NOT_RESOLVED"),
        ("crash", "unavailable", "exited with 101: panicked"),
        ("flood", "bad_reply", "10 MB"),
    ],
)
async def test_failures_are_reported_with_the_message_of_the_program(
    tmp_path: Path, way: str, outcome: str, message: str
):
    one = install_fake_program(tmp_path, way=way)
    attempt = await read_failure(open_search(tmp_path, command=str(one), engines=["google"]))
    assert attempt["outcome"] == outcome
    assert message in attempt["message"]


@pytest.mark.parametrize("way", ["notice", "not_started"])
async def test_a_notice_and_a_slow_start_are_not_failures(tmp_path: Path, way: str):
    one = install_fake_program(tmp_path, way=way)
    assert (await run_search(open_search(tmp_path, command=str(one)))).hits


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
async def test_a_hanging_program_is_ended_with_all_processes_it_started(tmp_path: Path):
    one = install_fake_program(tmp_path, way="hang")
    attempt = await read_failure(open_search(tmp_path, timeout=scale_to_load(2), command=str(one)))
    assert attempt["outcome"] == "timeout"
    started = agent_browser_program.read_started_pids(one)
    assert started
    assert await wait_until_gone(*started)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
@pytest.mark.parametrize("at", ["open", "snapshot"])
async def test_its_background_process_and_browser_are_gone_after_each_visit(tmp_path: Path, at: str):
    one = install_fake_program(tmp_path, way="failing" if at == "snapshot" else "ok", at=at)
    with suppress(Unavailable):
        await run_search(open_search(tmp_path, command=str(one), engines=["google"]))
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while len(agent_browser_program.read_started_pids(one)) < 1:
            await anyio.sleep(0.01)
    assert await wait_until_gone(*agent_browser_program.read_started_pids(one))


@pytest.mark.parametrize(
    ("version", "message"), [("0.14.9", "0.14.9 is too old: 0.15.0"), ("", "does not report its version")]
)
async def test_an_old_or_unknown_version_is_refused_with_a_remedy(tmp_path: Path, version: str, message: str):
    one = install_fake_program(tmp_path, version=version)
    attempt = await read_failure(open_search(tmp_path, command=str(one)))
    assert attempt["outcome"] == "not_configured"
    assert message in attempt["message"]
    assert "npm install -g agent-browser@0.41.2" in attempt["hint"]
    assert [each["argv"] for each in agent_browser_program.read_calls(one)] == [["--version"]]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
async def test_an_abandoned_background_process_is_ended_too(tmp_path: Path):
    one = install_fake_program(tmp_path, way="not_started")
    await run_search(open_search(tmp_path, command=str(one)))
    started = agent_browser_program.read_started_pids(one)
    assert len(started) > 1
    assert await wait_until_gone(*started)


async def test_the_version_is_asked_once(tmp_path: Path):
    one = install_fake_program(tmp_path)
    search = open_search(tmp_path, command=str(one))
    for _ in range(2):
        await run_search(search)
    assert [each["argv"] for each in agent_browser_program.read_calls(one)].count(["--version"]) == 1


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "`search.agent_browser.command` is empty"),
        ({"command": "no-such-program"}, "the program 'no-such-program' was not found"),
    ],
)
async def test_without_the_program_it_is_not_offered_and_nothing_is_installed(tmp_path: Path, settings, reason):
    search = open_search(tmp_path, **settings)
    with pytest.raises(NotConfigured):
        await run_search(search)
    row = next(row for row in await search.list_providers() if row.name == "agent_browser")
    assert not row.usable
    assert reason in row.reason
    assert not (tmp_path / "data").exists()


def install_fake_npm(tmp_path: Path, source: str) -> Path:
    """A fake `npm`, first on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    file = folder / "npm"
    file.write_text(f"#!{sys.executable}\nimport json, os, pathlib, shutil, sys\n{source}\n")
    file.chmod(0o755)
    return folder


def install_recording_npm(tmp_path: Path, **behaviour: Any) -> None:
    made = install_fake_program(tmp_path, **behaviour).parent
    install_fake_npm(
        tmp_path,
        f"pathlib.Path({str(tmp_path / 'npm.json')!r}).write_text(json.dumps([sys.argv[1:], dict(os.environ)]))\n"
        "target = pathlib.Path(sys.argv[sys.argv.index('--prefix') + 1]) / 'node_modules' / '.bin'\n"
        f"shutil.copytree({str(made)!r}, target)",
    )


async def test_with_consent_the_pinned_version_is_installed_without_the_packages_scripts(tmp_path: Path):
    install_recording_npm(tmp_path, version="0.41.2")
    assert (await run_search(open_search(tmp_path, command="npm"))).hits
    asked, environ = json.loads((tmp_path / "npm.json").read_text())
    assert asked[0] == "install"
    assert asked[-1] == "agent-browser@0.41.2"
    assert "--ignore-scripts" in asked
    assert "-g" not in asked
    assert environ["NPM_CONFIG_CACHE"] == "/c"
    assert "s3cret" not in environ.values()
    assert str(tmp_path / "data") in asked[asked.index("--prefix") + 1]


async def test_another_version_than_the_pinned_one_is_refused(tmp_path: Path):
    install_recording_npm(tmp_path, version="0.99.0")
    attempt = await read_failure(open_search(tmp_path, command="npm"))
    assert attempt["outcome"] == "not_configured"
    assert "reports version 0.99.0" in attempt["message"]


async def test_a_failed_installation_gives_the_reason_and_the_command(tmp_path: Path):
    install_fake_npm(tmp_path, "print('E404 not found', file=sys.stderr); sys.exit(1)")
    attempt = await read_failure(open_search(tmp_path, command="npm"))
    assert attempt["outcome"] == "not_configured"
    assert "npm exited with 1" in attempt["message"]
    assert "E404" in attempt["message"]
    assert "npm install -g agent-browser@0.41.2" in attempt["hint"]


async def test_an_unknown_engine_is_named(tmp_path: Path):
    one = install_fake_program(tmp_path)
    attempt = await read_failure(open_search(tmp_path, command=str(one), engines=["altavista"]))
    assert attempt["outcome"] == "not_configured"
    assert "'altavista'" in attempt["message"]


@pytest.fixture(autouse=True)
def check_no_leftover_processes(tmp_path: Path) -> Iterator[None]:
    """Kill processes that a failing test would leave running."""
    yield
    for pid in agent_browser_program.read_started_pids(tmp_path / "program" / "agent-browser"):
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
