"""`outrider call` and `outrider browser` share one session across commands."""

import json
import re
import shlex
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from support.apps import loopback_app, shared_process
from support.apps.terminal import Terminal
from support.fakes import http_servers
from support.processes import outrider_command
from support.processes.pseudo_terminal import run_in_terminal
from support.results import read_first_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
STAKES = 'tools.stakes={"delete_playbook": "high"}'
TEA_FORM_HTML = """<!doctype html><title>Tea shop</title><h1>Order tea</h1>
<label>Name <input id=name></label><label>Kind <select id=kind><option>Green<option>Black</select></label>
<button onclick="document.title = `${document.querySelector('input').value} ordered ${kind.value}`">Order</button>"""
SIGN_IN_HTML = """<!doctype html><title>Club</title><h1></h1><button>Join</button><script>
const greet = () => { document.querySelector("h1").textContent = `Hello ${localStorage.name || "stranger"}`; };
document.querySelector("button").onclick = () => { localStorage.name = "Ada"; greet(); };
greet();
</script>"""
LONG_ARTICLE_HTML = loopback_app.build_article_html(
    "Long", "The tide comes in twice a day, and it goes out again. " * 400
)


@pytest.fixture(scope="module")
async def terminal(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Terminal]:
    async with AsyncExitStack() as stack:
        user = stack.enter_context(shared_process.start_host_user(tmp_path_factory.mktemp("home")))
        pages = {"/form": TEA_FORM_HTML, "/club": SIGN_IN_HTML, "/long": LONG_ARTICLE_HTML}
        yield Terminal(
            user, await stack.enter_async_context(http_servers.serve_app(loopback_app.build_page_site(pages)))
        )


@pytest.mark.nightly
async def test_a_page_opened_on_the_terminal_is_filled_in_by_a_host(terminal: Terminal):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        opened = await terminal.read("browser", "open", f"{terminal.site_url}/form")
        program, *rest = outrider_command.build_command("mcp", "--toolsets", "browser")
        host = StdioServerParameters(
            command=program, args=rest, env=terminal.environ, cwd=terminal.user.home / "project"
        )
        async with Client(host) as client:
            typed = await client.call_tool("inputText", {"selector": "#name", "text": "Ada"})
        shown = await terminal.read("browser", "snapshot")
        elsewhere = await terminal.read("browser", "sessions", folder="elsewhere")
        await terminal.read("browser", "run", "-", text="# the strong one\nselect #kind Black\n\nclick button\n")
        title = await terminal.read("browser", "title")
        closed = await terminal.read("browser", "close")
        none = await terminal.run("browser", "snapshot")
    assert f"{terminal.site_url}/form" in opened
    assert '= "Ada"' in read_first_text(typed)
    assert '= "Ada"' in shown
    assert json.loads(elsewhere) == []
    assert title.strip() == "Ada ordered Black"
    assert closed.startswith("Closed session")
    assert none.returncode == 2
    assert "open a page first with `outrider browser open`\n" in none.stderr.decode()


async def test_a_saved_sign_in_is_loaded_into_a_new_session(terminal: Terminal):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        await terminal.read("browser", "open", f"{terminal.site_url}/club")
        await terminal.read("browser", "click", "text=Join")
        await terminal.read("browser", "state", "save", "club")
        await terminal.read("browser", "close")
        await terminal.read("browser", "open", f"{terminal.site_url}/club")
        forgotten = await terminal.read("browser", "snapshot")
        await terminal.read("browser", "close")
        loaded = await terminal.read("browser", "state", "load", "club", f"{terminal.site_url}/club")
        shown = await terminal.read("browser", "snapshot")
        unknown = await terminal.run("browser", "state", "load", "tennis", terminal.site_url)
        await terminal.read("browser", "close")
    assert "Hello stranger" in forgotten
    assert "/club" in loaded
    assert "Hello Ada" in shown
    assert unknown.returncode == 2
    assert "tennis" in unknown.stderr.decode()


async def test_a_server_that_cannot_start_is_an_error_without_a_traceback(terminal: Terminal):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        listed = await terminal.run("call", "--set", "no.such.setting=1")
    assert listed.returncode == 70
    assert "ended before it answered" in listed.stderr.decode()
    assert "Traceback" not in listed.stderr.decode()


async def test_unwritable_output_is_reported_in_one_line_or_not_at_all(terminal: Terminal):
    command = shlex.join(outrider_command.build_command("call", "get_current_state"))
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        results = [
            await anyio.run_process(["bash", "-c", script], env=terminal.environ, cwd=terminal.user.home, check=False)
            for script in (f"{command} > /dev/full", f"set -o pipefail; {command} | true; exit 0", f"{command} extra=1")
        ]
    full, broken, wrong = ((each.returncode, each.stderr.decode().splitlines()) for each in results)
    assert full == (4, ["error: the output cannot be written: No space left on device", "try: free space, then repeat"])
    assert broken == (0, [])
    assert wrong[0] == 2
    assert wrong[1][0].startswith("error: ")


async def test_a_terminal_session_is_saved_run_tested_and_exported(terminal: Terminal):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        steps = f"open {terminal.site_url}/form\nfill #name Ada\nselect #kind Black\nclick button\n"
        await terminal.read("browser", "run", "-", text=steps)
        await terminal.read("flow", "save", "tea", "--description", "Order tea")
        again = await terminal.run("flow", "save", "tea")
        listed = await terminal.read("flow", "list", "--json")
        ran = await terminal.read("flow", "run", "tea", "name=Grace")
        wrong = await terminal.run("flow", "run", "tea", "Grace")
        tested = await terminal.run("flow", "test")
        shown = await terminal.read("flow", "show", "tea")
        exported = await terminal.read("flow", "export", "tea")
        typescript = await terminal.read("flow", "export", "tea", "--to", "typescript")
        file = terminal.user.home / "project" / ".outrider" / "flows" / "tea.yaml"
        file.write_text(file.read_text().replace("name: Order", "name: Pay"))
        stopped = await terminal.run("flow", "test", "tea")
        await terminal.read("flow", "delete", "tea")
        unknown = await terminal.run("flow", "export", "tea")
        await terminal.read("browser", "close")
    assert again.returncode == 2
    assert json.loads(listed)["flows"][0]["parameters"] == ["name", "kind"]
    assert "succeeded: 4 steps" in ran
    assert wrong.returncode == 2
    assert (tested.returncode, tested.stderr.decode().strip()) == (0, "tea: ok")
    assert "text: ${name}" in shown
    compile(exported, "test_tea.py", "exec")
    assert 'page.get_by_role("button", name="Order", exact=True).click()' in exported
    assert 'await page.getByRole("button", { name: "Order", exact: true }).click();' in typescript
    assert stopped.returncode == 5
    assert "not_found" in stopped.stderr.decode() or "changed" in stopped.stderr.decode()
    assert unknown.returncode == 2


async def test_a_run_of_steps_stops_at_the_first_failure_and_names_it(terminal: Terminal):
    steps = f"open {terminal.site_url}/form\nfill #nobody Ada\nclick button\n"
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        stopped = await terminal.run("browser", "run", "-", text=steps)
        title = await terminal.read("browser", "title")
        unknown = await terminal.run("browser", "run", "-", text="open about:blank\njump high\n")
    assert stopped.returncode == 2
    assert "stopped at line 2 of <stdin>: fill #nobody Ada" in stopped.stderr.decode()
    assert title.strip() == "Tea shop"
    assert unknown.returncode == 2
    assert unknown.stdout == b""  # nothing runs before all lines are parsed
    assert "line 2: no step 'jump'" in unknown.stderr.decode()


async def test_pictures_and_long_texts_become_files_and_texts_can_be_cut(terminal: Terminal):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        await terminal.read("browser", "open", f"{terminal.site_url}/form", "-s", "pictures")
        shot = await terminal.read("browser", "screenshot", "-s", "pictures")
        named = await terminal.read("browser", "screenshot", "h1", "--output", "heading.png", "-s", "pictures")
        saved = await terminal.read("call", "web_fetch", f"url={terminal.site_url}/long", "--output", "long.txt")
        cut = await terminal.read("call", "web_fetch", f"url={terminal.site_url}/long", "--max-tokens", "100")
    folder = terminal.user.home / "project"
    paths = [folder / text.splitlines()[-1] for text in (shot, named)]
    assert paths[0].is_relative_to(folder / ".outrider" / "output")
    assert paths[1] == folder / "heading.png"
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    assert saved.startswith("long.txt: ")
    assert saved.count("\n") == 1
    assert "The tide comes in" in (folder / "long.txt").read_text()
    opened = re.search(r"<untrusted-(\d+) from=", cut)
    assert opened
    assert f"\n</untrusted-{opened[1]}>\n[cut after 100 tokens" in cut
    assert len(cut) < 1_500


async def test_any_tool_can_be_called_listed_and_explained(terminal: Terminal):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        listed = await terminal.read("call")
        explained = await terminal.read("call", "--help", "web_search")
        usage = await terminal.read("call", "--help")
        written = await terminal.read("call", "write_file", "path=a.txt", "-", text='{"content": "tea"}')
        lines = await terminal.read("call", "read_file", '{"path": "a.txt"}', "numbered:=true")
        found = json.loads(await terminal.read("call", "search_files", "pattern=*.txt", "--json"))
    assert "web_search  " in listed
    assert "quick|balanced|wide" in explained
    assert "(required)" in explained
    assert "KEY:=JSON" in usage
    assert "a.txt" in written
    assert "tea" in lines
    assert [Path(each["path"]).name for each in found["entries"]] == ["a.txt"]


async def test_every_failure_has_an_exit_code_and_a_remedy(terminal: Terminal):
    cases = {
        ("call", "nosuch"): (2, "error: no tool 'nosuch'\ntry: the tools are createSession, "),
        ("call", "nosuch", "--json"): (2, "`outrider call` lists all"),
        ("call", "web_serch", "query=tea"): (2, "try: did you mean web_search"),
        ("call", "web_serch", "--help"): (2, "try: did you mean web_search"),
        ("call", "web_fetch", "http://a.example/"): (2, "write key=value"),
        ("call", "web_fetch", "url:=["): (2, "not valid JSON"),
        ("call", "web_fetch", "offset=minus"): (2, "url"),
        ("call", "web_fetch", "url=http://127.0.0.1:9/"): (5, "--set 'egress.allow=127.0.0.1:9'"),
        ("call", "read_file", "path=missing.txt"): (2, "missing.txt"),
    }
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        for words, (code, remedy) in cases.items():
            ended = await terminal.run(*words)
            assert (ended.returncode, ended.stdout) == (code, b""), words
            assert remedy in ended.stderr.decode(), words
        as_json = await terminal.run("call", "read_file", "path=missing.txt", "--json")
    assert as_json.returncode == 2
    assert json.loads(as_json.stdout)["error"]["kind"] == "not_found"


@pytest.mark.nightly
async def test_a_shell_completes_commands_tools_and_their_arguments(terminal: Terminal):
    lines = {
        "outrider bro": "browser",
        "outrider browser sna": "snapshot",
        "outrider call web_se": "web_search",
        "outrider call web_search dep": "depth=",
        "outrider call web_search depth=b": "depth=balanced",
    }
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        scripts = {shell: await terminal.read("completion", shell) for shell in ("bash", "zsh", "fish")}
        for line, completed in lines.items():
            words = line.split()
            environ = terminal.environ | {
                "_OUTRIDER_COMPLETE": "bash_complete",
                "COMP_WORDS": line,
                "COMP_CWORD": str(len(words) - 1),
            }
            ended = await anyio.run_process(outrider_command.build_command(), env=environ, check=False)
            assert f"plain,{completed}" in ended.stdout.decode().splitlines(), line
    assert all("_OUTRIDER_COMPLETE" in script for script in scripts.values())


async def test_files_that_cannot_be_used_are_named(terminal: Terminal):
    cases = [
        (("call", "listSessions", "--output", "missing.txt/a/b"), "missing.txt/a/b cannot be written"),
        (("browser", "run", "nowhere.steps"), "nowhere.steps"),
    ]
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        (terminal.user.home / "project").mkdir(exist_ok=True)
        (terminal.user.home / "project" / "missing.txt").write_text("a file is in the way")
        for words, reason in cases:
            ended = await terminal.run(*words)
            assert ended.returncode == 2, words
            assert reason in ended.stderr.decode()
            assert b"Traceback" not in ended.stderr


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 5), (b"y\n", 2)])
async def test_a_call_that_needs_consent_asks_the_person_at_the_terminal(terminal: Terminal, answer: bytes, code: int):
    command = outrider_command.build_command("call", "delete_playbook", "id=none", "--set", STAKES)
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        ended, shown = await anyio.to_thread.run_sync(run_in_terminal, command, terminal.environ, answer)
    assert ended == code, shown
    assert "delete_playbook" in shown


async def test_a_person_who_starts_mcp_is_told_what_it_is_waiting_for(terminal: Terminal):
    command = terminal.user.build_command("mcp")
    end_of_input = b"\x04"
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        ended, shown = await anyio.to_thread.run_sync(
            run_in_terminal, command, terminal.environ, end_of_input, b"Ctrl-D"
        )
    assert ended == 0, shown
    assert "`outrider install` adds it to hosts" in shown
