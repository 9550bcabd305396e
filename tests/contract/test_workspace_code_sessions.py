"""A session's interpreter keeps definitions between calls, for this session alone."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.app import App
from outrider.app.daemon.session_names import clean_up_host
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.core.result import ImageBlock
from outrider.workspace.sandbox.seccomp import is_supported
from support.apps import mcp_clients
from support.apps.code_app import (
    build_wheel,
    cancel_once_begun,
    make_home,
    open_code_app,
    run_python,
    run_shell,
    skip_without_pip,
)
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone"),
]
LIBRARY = "def greet(): return {!r}\n"
PICTURE = "class Picture:\n    def _repr_png_(self): return bytes.fromhex('89504e470d0a1a0a')\nPicture()"
# Replaces a package that is not installed here: it draws with the backend as pandas prints.
PANDAS = """
from contextlib import contextmanager
width = 80
@contextmanager
def option_context(*options):
    global width
    before, width = width, dict(zip(options[::2], options[1::2]))["display.width"]
    yield
    width = before
class DataFrame:
    def __repr__(self): return f"   a  b\\n0  1  {width}"
"""


@pytest.fixture
def home() -> Generator[Path]:
    with make_home() as folder:
        yield folder


@pytest.fixture
async def app(home: Path) -> AsyncGenerator[App]:
    async with open_code_app(home) as opened:
        yield opened


async def test_names_defined_in_one_call_exist_in_the_next(app: App):
    await run_python(app, "import math\nfrom pathlib import Path\nradius = 2\ndef area(r): return math.pi * r ** 2")
    found = await run_python(app, "print(f'{area(radius):.2f}', Path('.').exists())\nradius += 1")
    assert found.data["stdout"] == "12.57 True\n"
    assert (await run_python(app, "radius")).data["value"] == "3"
    await run_python(app, "radius = 9\nraise ValueError('late')")
    assert (await run_python(app, "radius")).data["value"] == "9"
    found = await run_python(app, "'radius' in globals()", reset=True)
    assert found.data["value"] == "False"


async def test_the_last_value_is_shown_as_in_notebooks(app: App):
    await app.call("write_file", Call(session="mine"), path="pandas/__init__.py", content=PANDAS)
    for code, value in (
        ("1 + 1", "2"),
        ("'text'", "'text'"),
        ("print('first')\n[1, 2]", "[1, 2]"),
        ("x = 1", None),
        ("None", None),
        ("5;", None),
        ("if True:\n    7", None),
        ("import asyncio\nawait asyncio.sleep(0, 'slept')", "'slept'"),
        ("import pandas\npandas.DataFrame()", "   a  b\n0  1  200"),
    ):
        found = await run_python(app, code)
        assert found.data.get("value") == value, code
        assert not found.is_error, code
        assert value is None or value in found.text, code
    long = await run_python(app, "'x' * 100_000")
    assert len(long.data["value"]) < 21_000
    whole = await run_shell(app, f"wc -c < {long.data['value_file']}")
    assert whole.data["stdout"].strip() == "100002"


async def test_a_value_that_is_a_picture_is_shown_and_saved(app: App):
    found = await run_python(app, PICTURE)
    assert [each["path"] for each in found.data["files_changed"]] == ["plot-1.png"]
    assert [item.mime_type for item in found.content if isinstance(item, ImageBlock)] == ["image/png"]


async def test_a_changed_file_is_imported_again(app: App):
    call = Call(session="mine")
    for text in ("first", "second"):
        await app.call("write_file", call, path="lib.py", content=LIBRARY.format(text))
        assert (await run_python(app, "import lib\nlib.greet()")).data["value"] == repr(text)


async def test_a_call_exits_as_a_script_would(app: App):
    for code, exit_code, shown in (
        ("import sys\nsys.exit(3)", 3, ""),
        ("exit()", 0, ""),
        ("raise SystemExit('a reason')", 1, "a reason\n"),
        ("input()", 1, "EOFError"),
        ("def broken(:", 1, "SyntaxError"),
        ("assert False, 'why'", 1, "AssertionError: why"),
        ("x = bytearray(10 ** 12)", 1, "MemoryError"),
    ):
        found = await run_python(app, code)
        assert found.data["exit_code"] == exit_code, code
        assert shown in found.data["stderr"], code
        assert "main.py" not in found.data["stderr"], code
    await run_python(app, "file = open('notes.txt', 'w')\nfile.write('kept');")
    assert (await run_shell(app, "cat notes.txt")).data["stdout"] == "kept"
    forked = "import os\nif os.fork() == 0: print('child')\nelse: os.wait(); print('parent')"
    assert (await run_python(app, forked)).data["stdout"] == "child\nparent\n"
    assert (await run_python(app, "1 + 1")).data["value"] == "2"


async def test_output_that_resembles_the_end_marker_is_output(app: App):
    found = await run_python(app, "import os\nos.write(1, b'\\x1e' * 40 + b'0' * 100);print(end='done')")
    assert found.data["stdout"].endswith("0done")
    found = await run_python(app, "import sys\nsys.stdout.write('x' * 3_000_000);")
    assert found.data["truncated"] is True
    assert (await run_python(app, "2")).data["value"] == "2"


async def test_sessions_and_people_share_no_variables(app: App):
    await run_python(app, "secret = 'mine'")
    for call in (Call(session="others"), Call(session="mine", identity="somebody")):
        found = await app.call("execute_python", call, code="print('secret' in globals())")
        assert found.data["stdout"] == "False\n"
    assert (await run_python(app, "secret")).data["value"] == "'mine'"


async def test_an_ended_interpreter_reports_what_was_lost(app: App):
    for code, timeout, reason in (
        ("import time; time.sleep(60)", 1, "stopped after 1 s"),
        ("import os; os._exit(4)", 30, "ended its process with exit code 4"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 30, ""),
    ):
        await run_python(app, "table, rows = [1], 2")
        found = await run_python(app, code, timeout=timeout)
        if reason or found.is_error:  # under Landlock before Linux 6.12, code cannot send signals
            assert reason in found.data["note"]
            assert "next call starts a new one; lost: table, rows, and what this call" in found.data["note"]
            assert (await run_python(app, "'table' in globals()")).data["value"] == "False"


async def test_the_next_call_reports_what_a_cancelled_one_lost(app: App):
    await run_python(app, "table = 1")
    await cancel_once_begun(app, run_python, "import time; open('begun', 'w').close(); time.sleep(60)")
    found = await run_python(app, "'table' in globals()")
    assert found.data["value"] == "False"
    assert "its call was cancelled; lost: table" in found.data["note"]
    assert "note" not in (await run_python(app, "1")).data


async def test_memory_is_limited_across_calls(home: Path):
    async with open_code_app(home, code={"memory_bytes": 300_000_000}) as app:
        await run_python(app, "kept = bytearray(b'x') * 150_000_000")
        found = await run_python(app, "more = bytearray(b'x') * 250_000_000")
        assert "MemoryError" in found.data["stderr"] or "300 MB" in found.data["note"]


async def test_calls_of_one_session_wait_for_each_other(app: App):
    async def add(number: int) -> None:
        await run_python(app, f"import time\nseen = [*globals().get('seen', []), {number}]\ntime.sleep(0.05)")

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(add, number)
    assert (await run_python(app, "sorted(seen)")).data["value"] == "[0, 1, 2, 3, 4]"


async def test_an_idle_interpreter_is_closed_and_the_next_call_reports_it(home: Path):
    async with open_code_app(home) as app:
        app.processes.kernels.idle_timeout_s = 0.5
        await run_python(app, "table = 1")
        slot = next(iter(app.processes.kernels._slots.values()))
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while slot.kernel:
                await anyio.sleep(0.05)
        found = await run_python(app, "'table' in globals()")
        assert found.data["value"] == "False"
        assert "closed after 0.5 s without a call; lost: table" in found.data["note"]


async def test_the_interpreter_idle_for_longest_is_closed_over_the_limit(home: Path):
    async with open_code_app(home, code={"parallel": 1}) as app:
        for session in ("first", "second", "third"):
            await run_python(app, "mine = 1", session)
        kept = await run_python(app, "mine", "second")
        assert kept.data["value"] == "1"
        gone = await run_python(app, "'mine' in globals()", "first")
        assert gone.data["value"] == "False"
        assert "2 other interpreters" in gone.data["note"]


async def test_an_interpreter_ends_with_its_host(app: App):
    await app.call("execute_python", Call(session="left"), code="table = 1")
    await clean_up_host(app, "left")
    found = await app.call("execute_python", Call(session="left"), code="'table' in globals()")
    assert found.data["value"] == "False"
    assert "host disconnected; lost: table" in found.data["note"]


async def test_packages_from_the_settings_are_available_and_read_only(home: Path, monkeypatch: pytest.MonkeyPatch):
    build_wheel(home, "outrider_sample")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(home))
    async with open_code_app(home) as app:
        await skip_without_pip(app, home)
        found = await run_python(app, "import outrider_sample")
        assert "operator can run `outrider code install outrider_sample`" in found.data["note"]
        assert (
            "`outrider code install` (numpy, pandas, matplotlib, openpyxl)"
            in (
                await run_shell(app, 'python3 -c \'raise ModuleNotFoundError("No module named " + repr("openpyxl"))\'')
            ).data["note"]
        )
    async with open_code_app(home, code={"packages": ["outrider_sample"]}) as app:
        assert (await run_python(app, "import outrider_sample\noutrider_sample.VALUE")).data["value"] == "42"
        shell = await run_shell(app, "python3 -c 'import outrider_sample; print(outrider_sample.VALUE)'")
        assert shell.data["stdout"] == "42\n"
        if (await app.processes.sandbox.detect_isolation()).level != "none":
            assert (await run_python(app, "open(outrider_sample.__file__, 'a')")).is_error
    async with open_code_app(home, code={"packages": ["outrider-absent"]}) as app:
        found = await run_python(app, "import outrider_absent")
        assert "outrider-absent could not be installed" in found.data["note"]
        assert (await run_python(app, "import outrider_sample\n1")).data["value"] == "1"


async def test_a_background_process_gets_input(app: App):
    call = Call(session="mine")
    begun = await run_python(app, "while name := input('name? '): print('hello', name)", run_mode="async")
    process = begun.data["process_id"]
    written = await app.call("write_process_input", call, process_id=process, text="Ada\nBob\n")
    assert written.data["characters"] == 8
    with pytest.raises(NotFound):
        await app.call("write_process_input", Call(session="others"), process_id=process, text="Eve\n")
    await app.call("write_process_input", call, process_id=process, text="\n", end=True)
    found = await wait_for_end(app, process)
    assert found.data["status"] == "finished"
    assert found.data["tail"] == ["name? hello Ada", "name? hello Bob", "name? "]
    with pytest.raises(InvalidInput, match="has ended"):
        await app.call("write_process_input", call, process_id=process, text="late")


async def test_input_to_a_closed_stream_is_refused(app: App):
    call = Call(session="mine")
    sleeping = (await run_shell(app, "exec <&-; sleep 60", run_mode="async")).data["process_id"]
    await app.call("write_process_input", call, process_id=sleeping, end=True)
    with pytest.raises(Refused, match="closed"):
        await app.call("write_process_input", call, process_id=sleeping, text="more")
    await app.call("stop_process", call, process_id=sleeping)


async def wait_for_end(app: App, process: str) -> Any:
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        while True:
            found = await app.call("poll_process", Call(session="mine"), process_id=process)
            if found.data["status"] != "running":
                return found
            await anyio.sleep(0.01)


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
async def test_a_client_sees_values_and_keeps_its_variables(home: Path, era: str):
    async with open_code_app(home) as app, mcp_clients.connect_client(app.build_server("workspace"), era) as client:
        await client.call_tool("execute_python", {"code": "numbers = [1, 2, 3]"})
        found = await client.call_tool("execute_python", {"code": "sum(numbers)"})
        assert found.structured_content["value"] == "6"
        assert "value: 6" in found.content[0].text
