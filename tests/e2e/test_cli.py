"""The command as people and programs type it: real processes, real exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from outrider.core.installation import suggest_extra
from support.apps import loopback_app
from support.fakes import http_servers, search_providers
from support.fakes.website import PIXEL_PNG
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio

WAL_SITE = loopback_app.build_page_site(
    {
        "/wal": loopback_app.build_article_html(
            "WAL mode", "The checkpoint moves pages into the database. " * 10, "Tea is green. " * 30
        ),
        "/dot.png": (200, {"content-type": "image/png"}, PIXEL_PNG),
        "/cafe": loopback_app.build_article_html("Café ☕ 日本語", "Schöne Grüße aus 東京. " * 20),
    }
)


async def run_outrider(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in that home, without the outer environment."""
    return await run_command(home, outrider_command.build_command(*arguments), environ)


async def outrider_anew(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run it in a new interpreter, which reads the locale and uses the entry point."""
    return await run_command(home, [sys.executable, "-m", "outrider", *arguments], environ)


async def run_command(home: Path, command: list[str], environ: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]} | environ
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        return await anyio.run_process(command, env=environment, cwd=home, check=False)


def build_search_environment(url: str, *names: str) -> dict[str, str]:
    """Return the environment in which loopback servers replace these providers."""
    prefix = "OUTRIDER_SEARCH__"
    given = {
        f"{prefix}PROVIDERS__{name.upper()}__ENDPOINT": search_providers.build_endpoint_url(url, name) for name in names
    }
    keys = {f"{prefix}PROVIDERS__{name.upper()}__API_KEY": search_providers.PROVIDER_API_KEY for name in names}
    return {**given, **keys, f"{prefix}KEYLESS": "false"}


def build_reading_environment(url: str) -> dict[str, str]:
    return {"OUTRIDER_EGRESS__ALLOW": f"127.0.0.1:{url.rsplit(':', 1)[1]}"}


async def test_search_prints_results_for_people(home: Path):
    async with http_servers.serve_app(search_providers.build_provider_app()) as url:
        done = await run_outrider(home, "search", "red", "fox", "-n", "2", **build_search_environment(url, "brave"))
    assert done.returncode == 0, done.stderr
    said = done.stdout.decode()
    assert "1. red & more, part 1" in said
    assert "https://www.place2.example/2" in said
    assert "2 results from brave" in said
    assert len([line for line in said.splitlines() if line.startswith("   ")]) == 4  # not wrapped for a program


async def test_search_prints_json_for_programs(home: Path):
    async with http_servers.serve_app(search_providers.build_provider_app()) as url:
        done = await run_outrider(home, "search", "fox", "-n", "1", "--json", **build_search_environment(url, "brave"))
    assert json.loads(done.stdout)["results"][0]["url"] == "https://www.place1.example/1"


async def test_a_search_that_finds_nothing_exits_with_one(home: Path):
    behaviour = search_providers.ProviderBehaviour(modes={"*": "empty"})
    async with http_servers.serve_app(search_providers.build_provider_app(behaviour)) as url:
        done = await run_outrider(home, "search", "fox", **build_search_environment(url, "brave"))
    assert done.returncode == 1


async def test_a_search_without_any_provider_says_what_to_set_up(home: Path):
    done = await run_outrider(
        home, "search", "fox", OUTRIDER_SEARCH__KEYLESS="false", OUTRIDER_SEARCH__DISABLED="local"
    )
    assert done.returncode == 3
    assert b"_API_KEY" in done.stderr
    assert b"Traceback" not in done.stderr


async def test_a_search_that_every_provider_fails_exits_with_four_and_never_shows_a_key(home: Path):
    behaviour = search_providers.ProviderBehaviour(modes={"*": "401"})
    async with http_servers.serve_app(search_providers.build_provider_app(behaviour)) as url:
        done = await run_outrider(home, "search", "fox", **build_search_environment(url, "brave", "serper"))
    assert done.returncode == 4
    assert search_providers.PROVIDER_API_KEY.encode() not in done.stderr + done.stdout


async def test_fetch_prints_a_page(home: Path):
    async with http_servers.serve_app(WAL_SITE) as url:
        done = await run_outrider(home, "fetch", f"{url}/wal", **build_reading_environment(url))
    assert done.returncode == 0, done.stderr
    assert b"The checkpoint moves pages into the database." in done.stdout
    assert b"untrusted-" not in done.stdout


async def test_fetch_writes_whole_pages_to_a_file_and_describes_it(home: Path):
    file = home / "notes" / "wal.md"
    async with http_servers.serve_app(WAL_SITE) as url:
        done = await run_outrider(home, "fetch", f"{url}/wal", "--output", str(file), **build_reading_environment(url))
    assert "The checkpoint moves pages into the database." in file.read_text()
    assert re.fullmatch(rf"{file}: [\d,]+ characters, [\d,]+ tokens: URL: {url}/wal\n", done.stdout.decode())


async def test_an_unknown_option_is_answered_with_those_of_the_command(home: Path):
    done = await run_outrider(home, "map", "https://example.com", "--limit", "8")
    assert done.returncode == 2
    assert b"No such option '--limit'. It has --search, --within, " in done.stderr
    early = await run_outrider(home, "browser", "--json", "url")
    assert b"No such option '--json'. Put a command's options after its name." in early.stderr


async def test_fetch_with_a_query_prints_the_passages(home: Path):
    async with http_servers.serve_app(WAL_SITE) as url:
        done = await run_outrider(
            home, "fetch", f"{url}/wal", "--query", "checkpoint", "--json", **build_reading_environment(url)
        )
    (page,) = json.loads(done.stdout)
    assert page["excerpts"]
    assert "Green tea" not in page["text"]


@pytest.mark.nightly
async def test_fetch_of_a_picture_names_its_file(home: Path):
    async with http_servers.serve_app(WAL_SITE) as url:
        kept = await run_outrider(home, "fetch", f"{url}/dot.png", "--json", **build_reading_environment(url))
        here = await run_outrider(
            home,
            "fetch",
            f"{url}/dot.png",
            "--set",
            "workspace.directory=pictures of mine",
            **build_reading_environment(url),
        )
        (home / "project").mkdir()
        project = await run_outrider(
            home, "fetch", f"{url}/dot.png", "--set", "workspace.directory=project", **build_reading_environment(url)
        )
    (row,) = json.loads(kept.stdout)
    assert Path(row["path"]).read_bytes() == PIXEL_PNG
    assert "pictures of mine cannot be the workspace: it is not a folder" in here.stderr.decode()
    assert (home / "project" / "images").is_dir()
    assert f"the picture is {home / 'project' / 'images'}" in project.stderr.decode()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("directory", "nowhere"),
        ("directory", "~nobody.of.that.name/x"),
        ("directory", "loop"),
        ("directory", "x" * 5_000),
        ("import_roots", '["~nobody.of.that.name/x"]'),
    ],
    ids=["missing", "user", "loop", "long", "list"],
)
async def test_a_setting_with_an_impossible_folder_is_named_with_its_variable(home: Path, setting: str, value: str):
    (home / "loop").symlink_to(home / "loop")
    variable = f"OUTRIDER_WORKSPACE__{setting.upper()}"
    done = await run_outrider(home, "tools", **{variable: value})
    error = done.stderr.decode()
    assert done.returncode
    assert f"workspace.{setting}" in error
    assert f"(from the variable {variable})" in error
    assert len(error) < 600


@pytest.mark.nightly
async def test_fetch_of_several_continues_after_a_failure_and_exits_with_one(home: Path):
    async with http_servers.serve_app(WAL_SITE) as url:
        done = await run_outrider(home, "fetch", f"{url}/nowhere", f"{url}/wal", **build_reading_environment(url))
    assert done.returncode == 1
    assert b"404" in done.stderr
    assert b"The checkpoint" in done.stdout


async def test_fetch_of_a_file_names_the_command_for_files(home: Path):
    (home / "notes.md").write_text("# Notes")
    done = await run_outrider(home, "fetch", str(home / "notes.md"))
    assert done.returncode == 2
    assert b"outrider extract" in done.stderr


async def test_fetch_of_a_private_address_is_refused_with_five(home: Path):
    done = await run_outrider(home, "fetch", "http://127.0.0.1:9/")
    assert done.returncode == 5
    assert b"outrider config add egress.allow 127.0.0.1:9" in done.stderr
    assert b"--set 'egress.allow=127.0.0.1:9'" in done.stderr


@pytest.mark.nightly
async def test_following_the_command_in_a_refusal_allows_the_address(home: Path):
    async with http_servers.serve_app(WAL_SITE) as url:
        refused = await run_outrider(home, "fetch", f"{url}/wal")
        advice = re.search(rb"outrider (config add egress.allow \S+),", refused.stderr)
        assert advice
        added = await run_outrider(home, *advice[1].decode().split())
        assert added.returncode == 0, added.stderr
        assert (await run_outrider(home, "fetch", f"{url}/wal")).returncode == 0


@pytest.mark.nightly
async def test_a_page_in_the_cache_is_refused_once_the_rules_deny_its_address(home: Path):
    local = {"OUTRIDER_SEARCH__KEYLESS": "false", "OUTRIDER_SEARCH__ORDER": "local"}
    async with http_servers.serve_app(WAL_SITE) as url:
        page = f"{url}/wal"
        first = await run_outrider(home, "fetch", page, **build_reading_environment(url))
        found = await run_outrider(home, "search", "checkpoint", **local, **build_reading_environment(url))
        denied = await run_outrider(
            home, "fetch", page, OUTRIDER_EGRESS__DENY="127.0.0.1", **build_reading_environment(url)
        )
        hidden = await run_outrider(home, "search", "checkpoint", **local, OUTRIDER_EGRESS__DENY="127.0.0.1")
    assert first.returncode == 0
    assert page.encode() in found.stdout
    assert denied.returncode == 5
    assert b"deny list" in denied.stderr
    assert page.encode() not in hidden.stdout


@pytest.mark.parametrize(
    "locale", [*(pytest.param(name, marks=pytest.mark.nightly) for name in ("C", "POSIX")), "tr_TR.UTF-8"]
)
@pytest.mark.nightly
async def test_a_strange_locale_changes_nothing(home: Path, locale: str):
    async with http_servers.serve_app(WAL_SITE) as url:
        done = await outrider_anew(
            home, "fetch", f"{url}/cafe", "--json", LC_ALL=locale, LANG=locale, **build_reading_environment(url)
        )
        shown = await outrider_anew(
            home, "fetch", f"{url}/cafe", LC_ALL=locale, LANG=locale, **build_reading_environment(url)
        )
    assert "東京" in json.loads(done.stdout)[0]["text"]
    assert shown.returncode == 0, shown.stderr


async def test_bad_settings_are_named_with_their_place(home: Path):
    done = await run_outrider(home, "tools", OUTRIDER_SERCH="x")
    assert done.returncode == 2
    assert b"serch" in done.stderr
    assert b"did you mean 'search'" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.nightly
async def test_no_command_starts_with_a_settings_file_that_is_not_json(home: Path):
    path = home / ".outrider" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"egress": {"deny": ["evil.example",]}}')
    commands = ["fetch https://evil.example/", "tools", "search fox", "serve --port 0", "worker", "doctor"]
    commands += ["mcp --no-daemon", "mcp", "config show", "crawl https://evil.example/", "db check"]
    for command in commands:
        done = await run_outrider(home, *command.split())
        assert (command, done.returncode) == (command, 2)
        assert f"{path}, line 1, column ".encode() in done.stderr
        assert b"correct or remove settings.json" in done.stderr


async def test_config_show_reports_values_with_origins_and_hides_secrets(home: Path):
    done = await run_outrider(
        home, "config", "show", "--set", "names=builtin", OUTRIDER_SEARCH__PROVIDERS__BRAVE__API_KEY="hush"
    )
    lines = done.stdout.decode().splitlines()
    assert any(line.startswith("names ") and '"builtin"' in line and "command line" in line for line in lines)
    assert any("brave.api_key" in line and "****" in line and "environment" in line for line in lines)
    assert b"hush" not in done.stdout


async def test_config_schema_is_a_json_schema(home: Path):
    done = await run_outrider(home, "config", "schema")
    assert "egress" in json.loads(done.stdout)["properties"]


async def test_tools_lists_the_catalogue_with_its_cost(home: Path):
    done = await run_outrider(home, "tools", "--toolsets", "all,compat", "--json")
    rows = json.loads(done.stdout)
    assert {row["name"] for row in rows} >= {"web_search", "web_fetch", "websearch", "webbrowser", "search"}
    listed = json.loads((await run_outrider(home, "tools", "--toolsets", "all", "--json")).stdout)
    assert {row["name"] for row in rows} - {row["name"] for row in listed} >= {"websearch", "webbrowser", "search"}
    assert all(0 < row["tokens"] < 1_000 for row in rows)


async def test_an_unknown_toolset_is_answered_with_the_existing_ones(home: Path):
    done = await run_outrider(home, "tools", "--toolsets", "wep")
    assert done.returncode == 2
    assert b"web_search_browse" in done.stderr


@pytest.mark.nightly
async def test_doctor_names_what_is_missing_and_the_remedy(home: Path):
    done = await run_outrider(home, "doctor")
    said = done.stdout.decode()
    assert done.returncode == 0, said
    assert "the database in" in said
    assert "\n✓ search: Tavily, " in said
    assert "\n· search: not used: " in said
    assert "BRAVE_API_KEY" not in said
    everything = (await run_outrider(home, "doctor", "--all")).stdout.decode()
    assert "Tavily without a key" in everything
    assert "get a key at api-dashboard.search.brave.com and set BRAVE_API_KEY" in everything


async def test_doctor_starts_the_browser_and_says_why_it_does_not_start(home: Path):
    broken = home / "chromium"
    broken.write_text("#!/bin/sh\necho 'FATAL: No usable sandbox!' >&2\nexit 1\n")
    broken.chmod(0o755)
    done = await run_outrider(home, "doctor", OUTRIDER_BROWSER__EXECUTABLE=str(broken))
    assert done.returncode == 1
    assert f"✗ browser: {broken} cannot create its sandbox here" in done.stdout.decode()
    assert "allow unprivileged user namespaces" in done.stdout.decode()


async def test_doctor_sends_each_search_provider_a_test_query(home: Path):
    behaviour = search_providers.ProviderBehaviour(modes={"serper": "402"})
    async with http_servers.serve_app(search_providers.build_provider_app(behaviour)) as url:
        providers = search_providers.build_provider_settings(url, "brave", "serper")
        settings = ("--set", f"search.providers={json.dumps(providers)}", "--set", "search.keyless=false")
        done = await run_outrider(home, "doctor", "--live", *settings)
    told = [line for line in done.stdout.decode().splitlines() if "live: " in line]
    assert [("✓" in line, "Brave" in line, "Serper" in line) for line in told][:2] == [
        (True, True, False),
        (False, False, True),
    ]
    assert "3 results" in told[0]
    assert "402" in told[1]
    assert [request.provider for request in behaviour.requests] == ["brave", "serper"]
    assert done.returncode == 1


async def test_doctor_names_the_models_agents_would_use_and_the_broken_agents(home: Path):
    folder = home / ".outrider" / "agents"
    folder.mkdir(parents=True)
    (folder / "poet.md").write_text("---\ndescription: Rhymes\n---\nYou rhyme.\n")
    (folder / "broken.md").write_text("---\ndescription: x\ntoolset: web\n---\nHello.\n")
    (folder / "lost.md").write_text("---\ndescription: x\ntools: [fly_away]\n---\nHello.\n")
    (folder / "dumb.md").write_text("---\ndescription: x\nmodel: nobody\n---\nHello.\n")
    done = await run_outrider(home, "doctor", "--json", OPENAI_API_KEY="sk-secret", OUTRIDER_MODELS__LOCAL="false")
    found = json.loads(done.stdout)
    said = {each["what"]: each for each in found}
    assert done.returncode == 1
    assert any(what.startswith("agents use openai:") for what in said)
    [keyless] = [each for what, each in said.items() if "Claude is not used: no key" in what]
    assert (keyless["state"], keyless["remedy"].split(";")[0]) == ("note", "set ANTHROPIC_API_KEY")
    bad = {each["what"]: each["remedy"] for each in found if each["state"] == "bad"}
    assert len(bad) == 3
    assert any("broken.md" in what and "toolsets" in remedy for what, remedy in bad.items())
    assert any(what.startswith("agent lost: ") and "fly_away" in what for what in bad)
    assert any(what.startswith("agent dumb: ") and "provider:model" in remedy for what, remedy in bad.items())
    assert b"sk-secret" not in done.stdout + done.stderr


@pytest.mark.nightly
async def test_doctor_explains_how_to_get_a_model_if_there_is_none(home: Path):
    done = await run_outrider(home, "doctor", OUTRIDER_MODELS__LOCAL="false")
    said = done.stdout.decode()
    assert done.returncode == 0, said
    assert "models: no model is configured" in said
    assert "set a key in the environment" in said


@pytest.mark.nightly
async def test_doctor_reports_a_chosen_model_without_a_key(home: Path):
    done = await run_outrider(home, "doctor", "--set", "models.default=anthropic:claude-x")
    assert done.returncode == 1
    assert b"set ANTHROPIC_API_KEY" in done.stdout


async def test_an_unwritable_home_costs_only_the_memory(home: Path):
    blocked = home / "file"
    blocked.write_text("not a folder")
    async with (
        http_servers.serve_app(WAL_SITE) as url,
        http_servers.serve_app(search_providers.build_provider_app()) as search_url,
    ):
        environ = {
            "HOME": str(blocked),
            **build_reading_environment(url),
            **build_search_environment(search_url, "brave"),
        }
        page = await run_outrider(home, "fetch", f"{url}/wal", **environ)
        found = await run_outrider(home, "search", "fox", **environ)
        doctor = await run_outrider(home, "doctor", **environ)
    assert page.returncode == 0, page.stderr
    assert found.returncode == 0, found.stderr
    assert doctor.returncode == 1
    assert b"Traceback" not in page.stderr + found.stderr + doctor.stderr
    assert b"data_dir" in doctor.stdout
    assert str(blocked / ".outrider" / "outrider.db").encode() in doctor.stdout


async def test_serving_beyond_this_machine_needs_a_token(home: Path):
    done = await run_outrider(home, "serve", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 3
    assert b"OUTRIDER_SERVE__TOKEN" in done.stderr


WITHOUT_AGENTS = """
import importlib.util, sys
whole = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in ("dbos", "pydantic_ai", "yaml") else whole(name, *more)
from outrider.__main__ import main
sys.argv = ["outrider", *sys.argv[1:]]
main()
"""


async def test_without_their_extra_the_agent_commands_name_it_and_exit_with_three(home: Path):
    for command in ("list", "check"):
        done = await anyio.run_process(
            [sys.executable, "-c", WITHOUT_AGENTS, "agents", command],
            env={"HOME": str(home), "PATH": os.environ["PATH"]},
            cwd=home,
            check=False,
        )
        assert (command, done.returncode) == (command, 3)
        assert suggest_extra("agents") in done.stderr.decode()


async def test_the_version_is_printed(home: Path):
    done = await outrider_anew(home, "--version")
    assert done.returncode == 0
    assert done.stdout.startswith(b"outrider, version ")
