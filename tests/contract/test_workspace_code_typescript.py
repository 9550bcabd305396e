"""A session's Deno keeps definitions between calls, for this session alone."""

import os
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from outrider.app import App
from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.core.result import Result
from outrider.workspace.sandbox.interpreters import find_deno
from outrider.workspace.sandbox.seccomp import is_supported
from support.apps.code_app import make_home, open_code_app
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone"),
]
MINE = Call(session="mine")
MAIN = "async function main() { await new Promise((go) => setTimeout(go, 20)); console.log('late'); }\nmain();"


@pytest.fixture
async def app() -> AsyncGenerator[App]:
    try:
        find_deno("", 1 if os.geteuid() == 0 else None)  # if we are root, another user runs the code
    except NotConfigured as error:
        pytest.skip(f"{error.message}: {error.hint}")
    with make_home() as home:
        async with open_code_app(home) as opened:
            yield opened


async def run_typescript(app: App, code: str, session: str = "mine", **more: Any) -> Result:
    return await app.call("execute_typescript", Call(session=session), **more | {"code": code})


async def test_names_defined_in_one_call_exist_in_the_next(app: App):
    await app.call("write_file", MINE, path="lib.ts", content="export const twice = (x: number): number => 2 * x;\n")
    await run_typescript(
        app, 'import { twice as double } from "./lib.ts";\nimport { join } from "node:path";\nlet n = 21;'
    )
    await run_typescript(
        app, "interface Point { x: number }\nclass Box<T> { constructor(public value: T) {} }\nn += 1;"
    )
    found = await run_typescript(
        app, "const box: Box<Point> = new Box({ x: double(n) });\n[join('a', 'b'), box.value.x]"
    )
    assert found.data["value"] == '[ "a/b", 44 ]', found.text
    assert (await run_typescript(app, "let n = 1; n")).data["value"] == "1"
    assert "use the same keyword" in (await run_typescript(app, "const n = 2")).data["stderr"]
    assert (await run_typescript(app, "typeof n", reset=True)).data["value"] == '"undefined"'


async def test_values_errors_and_exit_codes_match_those_of_a_script(app: App):
    for code, exit_code, value, shown in (
        ("1 + 1", 0, "2", ""),
        ("const x: number = 1;", 0, None, ""),
        ("await Promise.resolve({ a: [1n] })", 0, "{ a: [ 1n ] }", ""),
        ("enum Size { Small, Large }\nSize.Large", 0, "1", ""),
        ("export const y = 5;\ny", 0, "5", ""),
        (MAIN, 0, None, "late\n"),
        ("import './lib.ts'", 1, None, "Module not found"),
        ("\nthrow new TypeError('why')", 1, None, "TypeError: why\n    at <anonymous>:2:7"),
        ("Promise.reject(new Error('nobody waits'))", 1, None, "Error: nobody waits"),
        ("function (", 1, None, "SyntaxError"),
        ("Deno.exit(3)", 3, None, ""),
        ("process.exitCode = 4;", 4, "4", ""),
        ("prompt('name?')", 0, "null", ""),
        ('Deno.stdout.writeSync(new Uint8Array(100).fill(30)); console.log("done")', 0, None, "done\n"),
    ):
        found = await run_typescript(app, code)
        assert (found.data["exit_code"], found.data.get("value")) == (exit_code, value), f"{code}: {found.text}"
        assert shown in found.data["stdout"] + found.data["stderr"], code
        assert "typescript_cells" not in found.data["stderr"], code


async def test_a_changed_file_is_imported_again(app: App):
    for text in ("first", "second"):
        await app.call("write_file", MINE, path="lib.ts", content=f"export const text = {text!r};\n")
        found = await run_typescript(app, 'import { text } from "./lib.ts";\ntext')
        assert found.data["value"] == f'"{text}"'


async def test_sessions_share_nothing_and_background_code_runs_alone(app: App):
    await run_typescript(app, "const secret = 'mine'")
    for session in ("mine", "others"):
        begun = await run_typescript(app, "console.log(typeof secret)", session, run_mode="async")
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            while (await poll_process(app, session, begun.data["process_id"]))["status"] == "running":
                await anyio.sleep(0.05)
        assert (await poll_process(app, session, begun.data["process_id"]))["tail"] == ["undefined"]
    assert (await run_typescript(app, "typeof secret", "others")).data["value"] == '"undefined"'
    assert (await run_typescript(app, "secret")).data["value"] == '"mine"'


async def poll_process(app: App, session: str, process: str) -> dict[str, Any]:
    return (await app.call("poll_process", Call(session=session), process_id=process)).data


async def test_an_ended_interpreter_reports_what_was_lost(app: App):
    await run_typescript(app, "const rows = [1]; function table() {}")
    found = await run_typescript(app, "setInterval(() => {}, 10)", timeout=1)
    assert "stopped after 1 s" in found.data["note"]
    assert "lost: rows, table" in found.data["note"]
    assert (await run_typescript(app, "typeof rows")).data["value"] == '"undefined"'
