"""`outrider extract` as people and programs type it."""

import json
import os
import re
import subprocess
from pathlib import Path

import anyio
import pytest

from outrider.core.text import count_tokens
from support.documents import office_files
from support.fakes.website import PIXEL_PNG, build_pdf
from support.processes import outrider_command
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
TIDE_HTML = (
    b"<title>Tide</title><nav><a href=/home>Home page</a></nav><main><h1>Tide</h1><p>%b <a href=next>on</a></main>"
    % (b"The tide comes in twice a day. " * 20)
)


async def run_extract(home: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = outrider_command.build_command("extract", *arguments)
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        return await anyio.run_process(command, input=stdin, env=environment, cwd=home, check=False)


@pytest.mark.parametrize(
    ("name", "body", "has"),
    [
        ("report.docx", office_files.build_all_kinds()["word"], "# Lights"),
        ("plan.bin", office_files.build_all_kinds()["excel"], "| Wend | 41 |"),
        ("book", office_files.build_all_kinds()["epub"], "The old light"),
        ("letter.eml", office_files.build_all_kinds()["mail"], "# Grüße"),
        ("tide.pdf", build_pdf("High water"), "High water"),
        ("dot.png", PIXEL_PNG, "A picture (image/png, 1 × 1 pixels"),
        ("code.py", b"print(1)\n", "```python"),
    ],
)
async def test_a_file_of_any_kind_becomes_markdown(home: Path, name: str, body: bytes, has: str):
    (home / name).write_bytes(body)
    done = await run_extract(home, name)
    assert done.returncode == 0, done.stderr
    assert has in done.stdout.decode()


async def test_stdin_is_read_whole_or_by_its_main_content(home: Path):
    main = await run_extract(home, "-", "--url", "https://a.example/x/", stdin=TIDE_HTML)
    whole = await run_extract(home, "-", "--no-main", stdin=TIDE_HTML)
    assert b"[on](https://a.example/x/next)" in main.stdout
    assert b"Home page" not in main.stdout
    assert b"Home page" in whole.stdout


async def test_text_output_has_no_markup(home: Path):
    done = await run_extract(
        home, "-", "--text", stdin=office_files.build_docx(office_files.build_paragraph("Lights", "berschrift1"))
    )
    assert done.stdout == b"Lights\n"


async def test_json_output_has_the_metadata(home: Path):
    (home / "a.xlsx").write_bytes(office_files.build_all_kinds()["excel"])
    known = json.loads((await run_extract(home, "a.xlsx", "--json")).stdout)
    assert known["tables"] == [[["Name", "Height"], ["Wend", "41"]]]
    assert (known["kind"], known["title"], known["author"]) == ("excel", "Harbour", "Ida Marsh")
    assert known["content_type"].endswith("spreadsheetml.sheet")


@pytest.mark.parametrize(
    ("name", "body", "code", "said"),
    [
        ("missing.docx", None, 2, "no such file"),
        (".", None, 2, "cannot be read"),
        ("broken.docx", office_files.build_all_kinds()["word"][:-30], 4, "broken"),
        ("files.7z", b"7z\xbc\xaf\x27\x1c" + bytes(99), 5, "archive"),
        ("empty.html", b"", 0, "has no readable text"),
        ("film.mp4", b"\x00\x00\x00\x18ftypmp42" + bytes(99), 5, "transcript"),
    ],
)
async def test_an_unreadable_file_is_reported_with_its_exit_code(
    home: Path, name: str, body: bytes | None, code: int, said: str
):
    if body is not None:
        (home / name).write_bytes(body)
    done = await run_extract(home, name)
    assert done.returncode == code, done.stderr
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


async def test_a_budget_of_tokens_explains_how_to_continue(home: Path):
    first = await run_extract(home, "-", "--max-tokens", "40", stdin=TIDE_HTML)
    assert count_tokens(first.stdout.decode().rstrip()) <= 40
    told = re.search(r"read on with --offset (\d+)", first.stderr.decode())
    assert told
    rest = json.loads(
        (await run_extract(home, "-", "--offset", told[1], "--max-tokens", "900", "--json", stdin=TIDE_HTML)).stdout
    )
    whole = (await run_extract(home, "-", stdin=TIDE_HTML)).stdout.decode()
    assert first.stdout.decode()[:-1] + rest["markdown"] + "\n" == whole
    assert not rest["truncated"]


async def test_a_query_prints_matching_passages_or_says_that_there_are_none(home: Path):
    page = b"<!doctype html><main><h2>Dogs</h2><p>%s<h2>Fees</h2><p>%s</main>" % (
        b"Dogs stay for free. " * 30,
        b"Ten pounds a night. " * 30,
    )
    found = await run_extract(home, "-", "--query", "fees", "--max-tokens", "60", stdin=page)
    none = await run_extract(home, "-", "--query", "zeppelin", stdin=page)
    assert b"Ten pounds" in found.stdout
    assert b"Dogs" not in found.stdout
    assert (none.returncode, none.stdout) == (1, b"\n")
    assert b"try other words" in none.stderr


async def test_errors_are_json_for_programs_too(home: Path):
    done = await run_extract(home, "nothing.pdf", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "not_found"


@pytest.mark.nightly
async def test_a_file_beyond_the_bound_is_refused(home: Path):
    done = await run_extract(home, "-", "--set", "pages.document_max_bytes=1000", stdin=b"x" * 2_000)
    assert done.returncode == 5
    assert b"pages.document_max_bytes" in done.stderr
