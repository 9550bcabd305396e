"""The skill for coding agents: its format, its length, and every command in it as an agent would run it."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import click
import pytest
import yaml

from outrider import __version__
from outrider.cli import outrider
from outrider.core.text import count_tokens
from support.apps import loopback_app, shared_process
from support.apps.terminal import Terminal
from support.fakes import http_servers, search_providers

pytestmark = pytest.mark.anyio
SKILL = Path(__file__).parents[2] / "skills" / "outrider"
SKILL_PAGES = [SKILL / "SKILL.md", *sorted(SKILL.glob("references/*.md"))]
SHELL_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
SKILL_TIMEOUT_S = 300
SHOP = """<!doctype html><title>Tea shop</title><h1>Order tea</h1>
<label>Tea <input id=query></label><label>Size <select id=size><option>Small<option>Large</select></label>
<label><input type=checkbox id=gift> A gift</label>
<button onclick="say.textContent = 'Ordered'">Order</button><p id=say>"""
GUIDE = loopback_app.build_article_html(
    "Guide", "A checkpoint ends when all frames are in the database. " * 20, "How often: once an hour, at most. " * 20
)
LONG_ARTICLE_HTML = loopback_app.build_article_html("Long", "The tide turns twice a day, and it goes out again. " * 400)
REPORT = loopback_app.build_article_html("Report", "The harbour had 4,120 visitors in May. " * 30)
CSV = (200, {"content-type": "text/csv"}, b"month,visitors\nMay,4120\n")


@pytest.fixture(scope="module")
async def terminal(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Terminal]:
    site = loopback_app.build_page_site(
        {"/shop": SHOP, "/guide": GUIDE, "/long": LONG_ARTICLE_HTML, "/report.csv": CSV}
    )
    async with AsyncExitStack() as stack:
        user = stack.enter_context(shared_process.start_host_user(tmp_path_factory.mktemp("home")))
        site_url = await stack.enter_async_context(http_servers.serve_app(site))
        search_url = await stack.enter_async_context(http_servers.serve_app(search_providers.build_provider_app()))
        settings = {
            "OUTRIDER_SEARCH__PROVIDERS__BRAVE__ENDPOINT": search_providers.build_endpoint_url(search_url, "brave"),
            "OUTRIDER_SEARCH__PROVIDERS__BRAVE__API_KEY": search_providers.PROVIDER_API_KEY,
            "OUTRIDER_SEARCH__KEYLESS": "false",
        }
        yield Terminal(user, site_url, settings)


@pytest.mark.parametrize(
    "page",
    [SKILL_PAGES[0], *(pytest.param(page, marks=pytest.mark.nightly) for page in SKILL_PAGES[1:])],
    ids=lambda page: page.stem,
)
async def test_every_command_in_the_skill_works(terminal: Terminal, page: Path):
    folder = terminal.user.home / page.stem
    folder.mkdir()
    (folder / "report.html").write_text(REPORT)
    environ = terminal.install_program(folder / "bin")
    blocks = SHELL_BLOCK.findall(page.read_text())
    assert blocks
    with anyio.fail_after(SKILL_TIMEOUT_S):
        for block in blocks:
            text = block.replace("https://example.com", terminal.site_url)
            ended = await anyio.run_process(["bash", "-exc", text], env=environ, cwd=folder, check=False)
            assert ended.returncode == 0, ended.stderr.decode()[-3_000:]


@pytest.mark.parametrize("page", SKILL_PAGES, ids=lambda page: page.stem)
def test_every_command_that_the_skill_mentions_exists(page: Path):
    for words in re.findall(r"`outrider ([^`]+)`", SHELL_BLOCK.sub("", page.read_text())):
        command: click.Command | None = outrider
        for word in words.split():
            if not isinstance(command, click.Group):
                break
            command = command.get_command(click.Context(command), word)
        assert command, words


def test_the_skill_follows_the_open_format():
    _, front, body = (SKILL / "SKILL.md").read_text().split("---\n", 2)
    fields = yaml.safe_load(front)
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert fields["name"] == SKILL.name
    assert re.fullmatch(r"(?!-)(?!.*--)[a-z0-9-]{1,64}(?<!-)", fields["name"])
    assert 1 <= len(fields["description"]) <= 1024
    assert 1 <= len(fields["compatibility"]) <= 500
    assert fields["metadata"] == {"version": __version__}
    linked = re.findall(r"\]\((references/[^)]+)\)", body)
    assert sorted(linked) == [str(page.relative_to(SKILL)) for page in SKILL_PAGES[1:]]


def test_the_skill_costs_few_tokens():
    lengths = {page.stem: count_tokens(page.read_text()) for page in SKILL_PAGES}
    assert lengths.pop("SKILL") <= 1_500
    assert max(lengths.values()) <= 700


async def test_the_skill_is_shown_and_installed_where_hosts_look(terminal: Terminal):
    home, project = terminal.user.home, terminal.user.home / "project"
    (home / ".claude").mkdir()
    with anyio.fail_after(SKILL_TIMEOUT_S):
        shown = await terminal.read("skill", "show")
        reference = await terminal.read("skill", "show", "stores")
        unknown = await terminal.run("skill", "show", "nothing")
        found = await terminal.read("skill", "install")
        again = await terminal.read("skill", "install")
        chosen = await terminal.read("skill", "install", "--project", "--host", "claude", "--host", "codex")
        removed = await terminal.read("skill", "install", "--remove", "--json")
    assert shown == (SKILL / "SKILL.md").read_text()
    assert reference == (SKILL / "references" / "stores.md").read_text()
    assert (unknown.returncode, b"there are agents, browser" in unknown.stderr) == (2, True)
    assert found == f"skill installed in {home}/.claude/skills/outrider\n"
    assert "no change in" in again
    assert len(chosen.splitlines()) == 2
    for folder in (".claude/skills", ".agents/skills"):
        copied = {path.name: path.read_text() for path in (project / folder / "outrider").rglob("*.md")}
        assert copied == {page.name: page.read_text() for page in SKILL_PAGES}
    assert json.loads(removed) == [{"folder": f"{home}/.claude/skills/outrider", "changed": True}]
    assert not (home / ".claude" / "skills" / "outrider").exists()
