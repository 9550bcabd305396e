"""A misbehaving reader only loses its own document."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from outrider.core.errors import Refused, Unavailable
from outrider.pages.local_file import read_body
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.registry import find_reader, load_readers
from outrider.pages.worker.runner import MAX_READER_PROCESSES, ReaderRunner
from support.documents.office_files import build_docx, build_paragraph
from support.fakes.website import (
    allocate_too_much,
    build_pdf,
    crash_process,
    hang_forever,
    list_environment,
    raise_error,
)
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
PDF = ReaderInput(build_pdf("still here"), "https://a.b/x", "application/pdf")


@pytest.mark.parametrize("isolated", [True, False])
async def test_a_bug_is_reported_as_an_unreadable_page(isolated: bool):
    with pytest.raises(Unavailable) as caught:
        await ReaderRunner().read_document(DocumentReader("err", ("x/y",), raise_error, isolated=isolated), PDF)
    assert caught.value.code == "unreadable"
    assert "ZeroDivisionError" in caught.value.message


async def test_a_crash_takes_only_its_own_process():
    runner = ReaderRunner()
    with pytest.raises(Unavailable) as caught:
        await runner.read_document(DocumentReader("crash", ("x/y",), crash_process, isolated=True), PDF)
    assert caught.value.code == "unreadable"
    document, _ = await runner.read_document(find_reader("application/pdf"), PDF)
    assert "still here" in document.text


async def test_an_isolated_reader_does_not_inherit_our_environment():
    document, _ = await ReaderRunner().read_document(
        DocumentReader("surroundings", ("x/y",), list_environment, isolated=True), PDF
    )
    names = document.markdown.split()
    assert "PATH" in names
    assert "PYTEST_CURRENT_TEST" in os.environ  # like any other name: it existed when the process started
    assert "PYTEST_CURRENT_TEST" not in names


async def test_an_endless_reader_is_killed_at_the_deadline():
    runner = ReaderRunner()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        with anyio.move_on_after(1) as scope:
            await runner.read_document(DocumentReader("hang", ("x/y",), hang_forever, isolated=True), PDF)
        document, _ = await runner.read_document(find_reader("application/pdf"), PDF)
    assert scope.cancelled_caught
    assert "still here" in document.text


async def test_excessive_memory_use_is_reported_as_too_large():
    with pytest.raises(Refused) as caught:
        await ReaderRunner().read_document(DocumentReader("hog", ("x/y",), allocate_too_much, isolated=True), PDF)
    assert caught.value.code == "too_large"
    assert "smaller copy" in caught.value.hint


async def test_errors_from_isolated_readers_arrive_unchanged():
    cut = ReaderInput(build_docx(build_paragraph("Lights"))[:900] + bytes(3_000_000), "https://a.b/x.docx")
    with pytest.raises(Unavailable) as caught:
        await ReaderRunner().read_document(next(reader for reader in load_readers() if reader.name == "word"), cut)
    assert (caught.value.code, caught.value.hint) == ("broken_file", "look for another copy of it")


async def test_a_killed_reader_leaves_no_process(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(
                ReaderRunner().read_document,
                DocumentReader("hang", ("x/y",), hang_forever, isolated=True),
                ReaderInput(b"", str(pipe)),
            )
            process = int(await anyio.Path(pipe).read_text())
            group.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_script_that_reads_a_document_runs_only_once(tmp_path: Path):
    (tmp_path / "tide.pdf").write_bytes(build_pdf("high water"))
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio\nfrom pathlib import Path\nfrom outrider.pages.local_file import read_body\n"
        "print('begins', flush=True)\n"
        "print(asyncio.run(read_body(Path('tide.pdf').read_bytes(), name='tide.pdf'))[0].text)\n"
    )
    run = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=PROCESS_TIMEOUT_S, check=False
    )
    assert run.stdout == "begins\n--- page 1 of 1 ---\n\nhigh water\n", run.stderr
    assert run.stderr == ""


def list_reading_processes() -> set[str]:
    """The processes that read for this one."""
    children = {pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split()}
    return {pid for pid in children if b"outrider.pages.worker.main" in Path(f"/proc/{pid}/cmdline").read_bytes()}


async def test_many_files_at_once_take_few_processes():
    found: list[str] = []
    before = list_reading_processes()

    async def read(at: int) -> None:
        found.append((await read_body(build_pdf(f"file {at}"), name="x.pdf"))[0].text)

    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with anyio.create_task_group() as group:
            for at in range(12):
                group.start_soon(read, at)
    assert len(found) == len(set(found)) == 12
    assert len(list_reading_processes() - before) <= MAX_READER_PROCESSES


def test_a_fork_does_not_use_its_parents_worker(tmp_path: Path):
    (tmp_path / "tide.pdf").write_bytes(build_pdf("high water"))
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, os, sys\nfrom pathlib import Path\nfrom outrider.pages.local_file import read_body\n"
        "def text():\n    return asyncio.run(read_body(Path('tide.pdf').read_bytes(), name='tide.pdf'))[0].text[-10:]\n"
        "def workers():\n    return Path(f'/proc/{os.getpid()}/task/{os.getpid()}/children').read_text().split()\n"
        "print(text())\nbefore = workers()\nif not os.fork():\n    print(text(), flush=True)\n    sys.exit()\n"
        "os.wait()\nprint(text())\nprint(before == workers())\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PROCESS_TIMEOUT_S,
        check=False,
    )
    assert run.stdout.split("\n")[:3] == ["high water"] * 3, run.stderr
