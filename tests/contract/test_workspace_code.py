"""The contract of the code tools (contracts 7.2), in the best sandbox of this machine."""

import base64
import json
import math
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, NotConfigured, NotFound, OutriderError, Refused
from outrider.core.installation import suggest_extra
from outrider.core.result import ImageBlock, Result
from outrider.settings import load
from outrider.toolsets.workspace.code_results import ExecutionReport, build_execution_result
from outrider.workspace.changes import MAX_SNAPSHOT_FILES
from outrider.workspace.jobs import build_shell_job
from outrider.workspace.processes import Execution
from outrider.workspace.sandbox.interpreters import find_deno
from outrider.workspace.sandbox.seccomp import is_supported
from support.apps import loopback_app, mcp_clients
from support.busy_machine import scale_to_load
from support.databases import sqlite
from support.fakes import http_servers
from support.processes.sandboxes import skip_level
from support.timeouts import PROCESS_TIMEOUT_S

MINE, OTHERS = Call(session="mine"), Call(session="others")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
FACTS = {
    "exit_code",
    "stdout",
    "stderr",
    "duration_ms",
    "timed_out",
    "truncated",
    "files_changed",
    "isolation",
}
pytestmark = pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone")


@pytest.fixture
def shared_home() -> Generator[Path]:
    """A home that every user can enter: as root, code runs as `nobody`."""
    with tempfile.TemporaryDirectory(prefix="outrider-home-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@asynccontextmanager
async def open_code_app(shared_home: Path, **more: Any) -> AsyncGenerator[App]:
    flags = {"toolsets": ["workspace"], "tools": {"stakes": {"*": "never_ask"}}} | more
    async with open_app(
        sqlite.prepare_database(load(flags, environ={}, home=shared_home, workspace=shared_home))
    ) as app:
        if (await app.processes.sandbox.detect_isolation()).backend is None:
            pytest.skip("needs a sandbox: apt-get install bubblewrap, or a kernel with Landlock")
        yield app


@pytest.fixture
async def app(shared_home: Path) -> AsyncGenerator[App]:
    async with open_code_app(shared_home) as made:
        yield made


async def run_python(app: App, code: str, call: Call = MINE, **more: Any) -> Result:
    return await app.call("execute_python", call, code=code, **more)


async def run_shell(app: App, command: str, call: Call = MINE, **more: Any) -> Result:
    return await app.call("execute_shell", call, command=command, **more)


async def wait_for_process(app: App, process: str, call: Call = MINE) -> Result:
    """Return the final state of a background process."""
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        while True:
            found = await app.call("poll_process", call, process_id=process)
            if found.data["status"] != "running":
                return found
            await anyio.sleep(0.01)


async def test_a_person_is_asked_before_code_runs(shared_home: Path):
    async with open_code_app(shared_home, tools={}) as app:
        for tool, argument in (
            ("execute_python", "code"),
            ("execute_typescript", "code"),
            ("execute_shell", "command"),
        ):
            with pytest.raises(AnswerNeeded):
                await app.call(tool, MINE, **{argument: "1"})
            assert app.toolbox.get_tool(tool).stake == "high"


async def test_python_runs_in_the_workspace_and_reports_its_outcome(app: App):
    found = await run_python(
        app, "import sys\nprint('seen')\nprint('heard', file=sys.stderr)\nopen('made.txt', 'w').write('x');"
    )
    assert set(found.data) == FACTS
    assert found.data["exit_code"] == 0
    assert found.data["stdout"] == "seen\n"
    assert found.data["stderr"] == "heard\n"
    assert found.data["timed_out"] is False
    assert found.data["truncated"] is False
    assert found.data["files_changed"] == [{"path": "made.txt", "change": "created", "size": 1}]
    assert found.data["isolation"] in ("namespaces", "landlock")
    assert not found.is_error
    for fact in ("exit code 0", found.data["isolation"], "seen", "heard", "created made.txt (1 bytes)"):
        assert fact in found.text


async def test_code_that_prints_nothing_gets_a_note(app: App):
    for code, silent in (("x = 1", True), ("None", True), ("print(1 + 1)", False), ("1 + 1", False)):
        assert ("(nothing was printed" in (await run_python(app, code)).text) == silent, code


async def test_code_that_fails_is_an_error_with_its_output(app: App):
    found = await run_python(app, "print('before')\nraise ValueError('a reason')")
    assert found.is_error
    assert found.data["exit_code"] == 1
    assert found.data["stdout"] == "before\n"
    assert "raise ValueError" in found.data["stderr"]
    assert "ValueError: a reason" in found.data["stderr"]


async def test_code_is_never_changed(app: App):
    code = "print(''' \" ' `odd' \\\" \"\" ''')\nprint(len(\"\"), '\\'', \"it's\")"
    assert (await run_python(app, code)).data["stdout"] == " \" ' `odd' \" \"\" \n0 ' it's\n"
    assert (await run_shell(app, 'echo "it\'s" \'"\' "" | cat -A')).data["stdout"] == "it's \" $\n"


async def test_a_megabyte_of_code_runs(app: App):
    code = "x = '" + "a" * 900_000 + "'\nprint(len(x))"
    assert (await run_python(app, code)).data["stdout"] == "900000\n"


async def test_spawned_processes_find_functions_defined_in_the_code(app: App):
    await app.call("write_file", MINE, path="helper.py", content="VALUE = 42\n")
    code = """
import multiprocessing, helper
def square(x): return x * x
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    reading, writing = context.Pipe(False)
    worker = context.Process(target=writing.send, args=(helper.VALUE,))
    worker.start()
    print(reading.recv())
    worker.join()
"""
    found = await run_python(app, code)
    assert found.data["stdout"] == "42\n", found.text
    assert found.data["files_changed"] == []


async def test_a_timeout_is_reported_with_the_output_so_far(app: App):
    seconds = math.ceil(scale_to_load(1))
    found = await run_python(app, "import time\nprint('begun')\ntime.sleep(600)", timeout=seconds)
    assert found.is_error
    assert found.data["timed_out"] is True
    assert found.data["stdout"] == "begun\n"
    assert found.data["note"].replace(f"after {seconds} s", "after 1 s") == snapshot(
        "stopped after 1 s; give a longer timeout (at most 300) or run_mode=async; the interpreter ended; the next "
        "call starts a new one; lost: what this call had set"
    )


async def test_long_output_is_cut_in_the_middle_and_kept_in_a_file(app: App):
    found = await run_python(app, "print('first')\nprint('x' * 100_000)\nprint('last')")
    assert found.data["truncated"] is True
    assert len(found.data["stdout"]) < 30_100
    assert found.data["stdout"].startswith("first\n")
    assert found.data["stdout"].endswith("last\n")
    (path,) = found.data["output_files"]
    assert path in found.text
    assert (await run_shell(app, f"wc -c < {path}")).data["stdout"].strip() == "100012"


async def test_colours_and_invisible_characters_do_not_reach_the_model(app: App):
    found = await run_python(app, r"print('\x1b[31mred\x1b[0m \u202ereversed\u200b')")
    assert found.data["stdout"] == "red reversed\n"


async def test_pictures_return_as_pictures(app: App):
    code = f"import base64\ndata = bytes.fromhex('{PNG.hex()}')\n"
    code += "for number in range(6): open(f'plot-{number}.png', 'wb').write(data)\n"
    code += "open('fake.png', 'wb').write(b'no picture')"
    found = await run_python(app, code)
    pictures = [item for item in found.content if isinstance(item, ImageBlock)]
    assert len(pictures) == 4
    assert {(item.data, item.mime_type) for item in pictures} == {(PNG, "image/png")}


async def test_files_that_are_changed_and_removed_are_reported(app: App):
    await run_shell(app, "echo a > stays; echo b > changes; echo c > goes")
    found = await run_shell(app, "echo more >> changes; rm goes; mkdir -p deep/er && echo d > deep/er/new")
    assert [(each["path"], each["change"]) for each in found.data["files_changed"]] == [
        ("changes", "changed"),
        ("deep/er/new", "created"),
        ("goes", "deleted"),
    ]


async def test_too_many_changed_files_to_list_are_reported(app: App):
    place, sandbox = app.workspaces.ensure_workspace(MINE), app.processes.sandbox
    job = await build_shell_job(sandbox, place.directory, "true")
    many = {f"f{number}": (0, 0, number) for number in range(MAX_SNAPSHOT_FILES)}
    execution = Execution("many", "true", place, await sandbox.start(job), many)
    await execution.run(60)
    told = await build_execution_result(ExecutionReport(execution, "namespaces", job.limits, 60))
    assert told.data["files_changed"] == []
    assert "too many files to list" in told.data["files_note"]
    assert told.data["files_note"] in told.text


async def test_invisible_or_invalid_characters_in_file_names_do_no_harm(app: App):
    found = await run_python(app, r"open(b'a\xff\nb\x1b[31m.txt', 'w'); open('\u202egnp.exe', 'w')")
    assert [each["path"] for each in found.data["files_changed"]] == ["a b[31m.txt", "gnp.exe"]
    json.dumps(found.data).encode()


async def test_file_tools_and_code_share_the_workspace(app: App):
    await app.call("write_file", MINE, path="notes.txt", content="from a tool\n")
    assert (await run_shell(app, "cat notes.txt; echo from code >> notes.txt")).data["stdout"] == "from a tool\n"
    await app.call("write_file", MINE, path="notes.txt", content="again\n", mode="a")
    assert (await run_shell(app, "echo end >> notes.txt; cat notes.txt")).data["stdout"] == (
        "from a tool\nfrom code\nagain\nend\n"
    )


async def test_sessions_do_not_see_each_others_files(app: App):
    await run_shell(app, "echo mine > private.txt")
    found = await run_shell(app, "ls -a; find / -name private.txt 2>/dev/null", OTHERS)
    assert "private.txt" not in found.data["stdout"]


async def test_a_command_runs_in_the_given_folder(app: App):
    await run_shell(app, "mkdir -p sub/folder && echo x > sub/file")
    assert (await run_shell(app, "ls", working_dir="sub")).data["stdout"] == "file\nfolder\n"
    with pytest.raises(NotFound):
        await run_shell(app, "ls", working_dir="nowhere")
    with pytest.raises(InvalidInput):
        await run_shell(app, "ls", working_dir="sub/file")
    with pytest.raises(Refused):
        await run_shell(app, "ls", working_dir="../..")


async def test_typescript_runs_with_types_and_imports_of_the_workspace(app: App):
    try:
        find_deno("", 1 if os.geteuid() == 0 else None)  # if we are root, another user runs the code
    except NotConfigured as error:
        pytest.skip(f"{error.message}: {error.hint}")
    await app.call("write_file", MINE, path="lib.ts", content="export const twice = (x: number): number => 2 * x;\n")
    found = await app.call(
        "execute_typescript",
        MINE,
        code='import { twice } from "./lib.ts";\nconst n: number = 21;\nconsole.log(twice(n));\n'
        'await Deno.writeTextFile("out.txt", "x");',
    )
    assert found.data["stdout"] == "42\n", found.text
    assert found.data["files_changed"][0]["path"] == "out.txt"


async def test_without_deno_the_remedy_is_reported(shared_home: Path):
    async with open_code_app(shared_home, code={"deno": "/nowhere/deno"}) as app:
        with pytest.raises(NotConfigured) as caught:
            await app.call("execute_typescript", MINE, code="1")
    assert caught.value.hint == f"{suggest_extra('code')}, or set `code.deno` to a deno program"


async def test_without_isolation_code_does_not_run_and_the_remedy_is_reported(
    shared_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(shared_home))
    flags = {"toolsets": ["workspace"], "tools": {"stakes": {"*": "never_ask"}}, "code": {"isolation": "namespaces"}}
    async with open_app(
        sqlite.prepare_database(load(flags, environ={}, home=shared_home, workspace=shared_home))
    ) as app:
        with pytest.raises(NotConfigured) as caught:
            await run_python(app, "print(1)")
    assert caught.value.code == "no_isolation"
    assert "bubblewrap is not installed" in caught.value.message
    assert "code.isolation" in caught.value.hint


async def test_an_operator_may_waive_isolation_and_every_result_reports_it(shared_home: Path):
    async with open_code_app(shared_home, code={"isolation": "none"}) as app:
        found = await run_python(app, "print(1)")
    assert found.data["isolation"] == "none"
    assert "isolation: none" in found.text


async def test_secrets_of_the_server_are_not_in_the_environment(app: App, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    found = await run_shell(app, "env")
    assert "sk-secret" not in found.data["stdout"]
    names = {line.split("=")[0] for line in found.data["stdout"].splitlines()}
    assert {"HOME", "PWD", "TMPDIR", "PATH"} <= names


async def test_a_background_process_is_polled_read_and_listed(app: App):
    begun = await run_shell(app, "for n in $(seq 1 30); do echo line $n; done; echo oops >&2; exit 3", run_mode="async")
    process = begun.data["process_id"]
    assert process in begun.text
    found = await wait_for_process(app, process)
    assert found.data["status"] == "failed"
    assert found.data["exit_code"] == 3
    assert found.data["tail"] == [f"line {n}" for n in range(21, 31)]
    tail = await app.call("poll_process", MINE, process_id=process, tail={"src": "stderr", "n": 1})
    assert tail.data["tail"] == ["oops"]
    head = await app.call("read_process_output", MINE, process_id=process, mode="head", lines=2)
    assert head.text == "line 1\nline 2"
    assert head.data["total_lines"] == 30
    every = await app.call("list_processes", MINE, status_filter="finished")
    assert [each["process_id"] for each in every.data["processes"]] == [process]
    assert (await app.call("list_processes", MINE, status_filter="running")).data["processes"] == []


async def test_repeated_polling_is_answered_with_an_alternative(app: App):
    process = (await run_shell(app, "sleep 60", run_mode="async")).data["process_id"]
    polls = [await app.call("poll_process", MINE, process_id=process) for _ in range(6)]
    assert "note" not in polls[4].data
    assert polls[5].data["note"] == snapshot("it is still running; do something else in the meantime, or stop_process")
    stopped = await app.call("stop_process", MINE, process_id=process)
    assert stopped.data["status"] == "killed"


async def test_a_process_belongs_to_its_session(app: App):
    process = (await run_shell(app, "sleep 60", run_mode="async")).data["process_id"]
    for tool in ("poll_process", "read_process_output", "stop_process"):
        with pytest.raises(NotFound, match="process_id"):
            await app.call(tool, OTHERS, process_id=process)
    assert (await app.call("list_processes", OTHERS)).data["processes"] == []
    with pytest.raises(NotFound):
        await app.call("poll_process", Call(session="mine", identity="somebody"), process_id=process)


async def test_a_session_has_at_most_twenty_background_processes(shared_home: Path):
    async with open_code_app(shared_home) as app:
        first = (await run_shell(app, "sleep 60", run_mode="async")).data["process_id"]
        async with anyio.create_task_group() as group:
            for _ in range(19):
                group.start_soon(partial(run_shell, app, "sleep 60", run_mode="async"))
        with pytest.raises(Refused, match="20 background processes"):
            await run_shell(app, "sleep 60", run_mode="async")
        await run_shell(app, "sleep 0", OTHERS, run_mode="async")
        await app.call("stop_process", MINE, process_id=first)
        await run_shell(app, "sleep 0", run_mode="async")


@pytest.mark.nightly
async def test_many_calls_at_once_wait_for_each_other(shared_home: Path):
    async with open_code_app(shared_home, code={"parallel": 3}) as app:
        results: list[Result] = []

        async def one(number: int) -> None:
            results.append(await run_python(app, f"print({number})", Call(session=f"s{number % 5}")))

        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(one, number)
    assert sorted(int(each.data["stdout"]) for each in results) == list(range(12))


async def test_a_long_execution_reports_progress(app: App):
    heard: list[float] = []

    async def progress(done: float, total: float | None, message: str, data: dict[str, Any] | None = None) -> None:
        heard.append(done)

    await run_python(app, "import time; time.sleep(6)", Call(session="mine", progress=progress))
    assert heard[0] == 5.0


async def test_a_full_workspace_ends_what_runs_and_can_be_cleaned(shared_home: Path):
    async with open_code_app(shared_home, workspace={"max_bytes": 1_000_000}) as app:
        found = await run_shell(app, "head -c 2000000 /dev/zero > big; sleep 60")
        assert found.data["note"].startswith("ended: the workspace is full; remove files; the interpreter ended")
        assert (await run_shell(app, "rm big")).data["files_changed"][0]["change"] == "deleted"
        assert (await run_shell(app, "sleep 1.5; echo ok")).data["stdout"] == "ok\n"


async def test_code_reaches_the_web_only_if_allowed_and_only_through_the_guard(shared_home: Path):
    async with http_servers.serve_app(loopback_app.build_page_site({"/": "<p>reached</p>"})) as site:
        allowed = {"egress": {"allow": [site.removeprefix("http://")]}}
        read = "import urllib.request\nprint(urllib.request.urlopen({!r}, timeout=10).read())"
        async with open_code_app(shared_home, **allowed) as app:
            assert (await run_python(app, read.format(site))).is_error
        async with open_code_app(shared_home, code={"network": True}, **allowed) as app:
            if (await app.processes.sandbox.detect_isolation()).level != "namespaces":
                skip_level("namespaces", "only they have a guarded network")
            open_proxy = "import os\nos.environ['no_proxy'] = ''\n"
            found = await run_python(app, open_proxy + read.format(site))
            assert "<p>reached</p>" in found.data["stdout"], found.text
            refused = await run_python(app, open_proxy + read.format("http://169.254.169.254/"))
            assert "403" in refused.data["stderr"]
            around = "urllib.request.install_opener(urllib.request.build_opener(urllib.request.ProxyHandler({})))\n"
            direct = await run_python(app, "import urllib.request\n" + around + read.format(site))
            assert direct.is_error
            assert (await run_shell(app, "echo ok; exit 4")).data["exit_code"] == 4


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("execute_python", {"code": ""}),
        ("execute_python", {"code": "1", "timeout": 0}),
        ("execute_python", {"code": "1", "timeout": 301}),
        ("execute_shell", {"command": "x" * 1_001}),
        ("execute_shell", {"command": "echo \0"}),
        ("execute_shell", {"command": "ls", "run_mode": "later"}),
        ("poll_process", {"process_id": "x", "tail": {"n": 101}}),
        ("read_process_output", {"process_id": "x", "lines": 0}),
    ],
)
async def test_invalid_arguments_are_refused_before_anything_runs(app: App, tool: str, arguments: dict[str, Any]):
    with pytest.raises(InvalidInput):
        await app.call(tool, MINE, **arguments)


async def test_errors_name_the_next_step(app: App):
    with pytest.raises(OutriderError) as caught:
        await app.call("poll_process", MINE, process_id="nothing")
    assert caught.value.hint == snapshot("call list_processes to see the ids")


async def test_the_shell_tool_of_the_other_system_is_not_offered(app: App):
    expected = "execute_windows_cmd" if sys.platform == "win32" else "execute_shell"
    assert [name for name in app.toolbox.tools if name.startswith("execute_")] == [
        "execute_python",
        "execute_typescript",
        expected,
    ]
    assert os.name in ("posix", "nt")


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
async def test_a_client_gets_text_data_and_pictures(shared_home: Path, era: str):
    async with (
        open_code_app(shared_home) as app,
        mcp_clients.connect_client(app.build_server("workspace"), era) as client,
    ):
        code = f"open('plot.png', 'wb').write(bytes.fromhex('{PNG.hex()}'))\nprint('done')"
        found = await client.call_tool("execute_python", {"code": code})
        assert [item.type for item in found.content] == ["text", "image"]
        assert found.content[1].mime_type == "image/png"
        assert base64.b64decode(found.content[1].data) == PNG
        assert found.structured_content["stdout"] == "done\n"
        assert not found.is_error
        failed = await client.call_tool("execute_shell", {"command": "exit 3"})
        assert failed.is_error
        assert failed.structured_content["exit_code"] == 3


async def test_a_denied_execution_does_not_run(shared_home: Path):
    async with open_code_app(shared_home, tools={}) as app:
        with pytest.raises(Refused):
            await run_shell(app, "touch made", Call(session="mine", answer=False))
        assert (await run_shell(app, "ls", Call(session="mine", answer=True))).data["stdout"] == ""
