"""What an execution was like, in words and as data."""

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import anyio

from outrider.core.errors import OutriderError
from outrider.core.result import Image, Item, Result, Text
from outrider.core.untrusted import clean
from outrider.workspace.processes import Execution

if TYPE_CHECKING:
    from outrider.workspace.sandbox.job import Level, Limits

SHOWN = 30_000  # characters of both streams together
OF_ERRORS = 10_000  # of them for the stream of errors, where both are long
FILES_SHOWN = 50
COUNTLESS = "the workspace holds more files than are looked at: which ones were made or removed is not told"
POLLS = 5  # in a row, then advice
COLOURS = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
OUTPUTS = "outputs"
SIGNALS = {
    133: "it trapped, as Deno does when its memory is full",
    134: "it aborted",
    137: "it was killed",
    139: "it crashed (segmentation fault)",
    152: "CPU time limit",
}


@dataclass(frozen=True)
class Report:
    """An execution in the foreground, with what it was allowed."""

    execution: "Execution"
    level: "Level"
    limits: "Limits"
    seconds: int


async def reported(report: Report) -> Result:
    """The result of an execution that is over: output, changed files and pictures."""
    execution = report.execution
    running = execution.running
    out, err = running.stdout.text, running.stderr.text
    errors, cut_err = shortened(err, max(OF_ERRORS, SHOWN - len(out)))
    text, cut_out = shortened(out, SHOWN - len(errors))
    whole = {"stdout": out} if cut_out else {}
    whole |= {"stderr": err} if cut_err else {}
    facts: dict[str, Any] = {
        "exit_code": running.exit_code,
        "stdout": text,
        "stderr": errors,
        "duration_ms": round(running.seconds * 1_000),
        "timed_out": running.why == "timeout",
        "truncated": bool(whole) or running.stdout.dropped + running.stderr.dropped > 0,
        "files_changed": _files(execution),
        "isolation": report.level,
    }
    facts |= await _kept(execution, whole)
    facts |= {"files_note": COUNTLESS} if execution.countless else {}
    if note := _note(report):
        facts["note"] = note
    items: tuple[Item, ...] = (Text(_words(facts, len(execution.changed))), *await _pictures(execution))
    return Result(items, data=facts, is_error=bool(running.exit_code or running.why))


def shortened(text: str, limit: int) -> tuple[str, bool]:
    """The text without invisible characters and colours, its middle left out where it is too long."""
    text = clean(COLOURS.sub("", text))
    limit = max(limit, 0)
    if len(text) <= limit:
        return text, False
    head, tail = limit * 2 // 3, limit - limit * 2 // 3
    return f"{text[:head]}\n… ({len(text) - limit:,} characters are left out here) …\n{text[-tail:]}", True


async def _kept(execution: "Execution", whole: dict[str, str]) -> dict[str, Any]:
    """Keeps what is too long as files of the workspace, and says where."""
    paths: list[str] = []
    for stream, text in whole.items():
        path = f"{OUTPUTS}/{execution.id}.{stream}.txt"
        try:
            await anyio.to_thread.run_sync(execution.place.files.write, path, text)
        except OutriderError:  # no room: what is shown must do
            continue
        paths.append(path)
    return {"output_files": paths} if paths else {}


async def _pictures(execution: "Execution") -> list[Image]:
    from outrider.workspace.pictures import pictures

    found = await anyio.to_thread.run_sync(pictures, execution.place.files, execution.changed)
    return [Image(each.data, each.mime_type) for each in found]


def _files(execution: "Execution") -> list[dict[str, Any]]:
    return [vars(each) | {"path": _name(each.path)} for each in execution.changed[:FILES_SHOWN]]


def _name(path: str) -> str:
    """A path on one line, without what hides or cannot be written down: code chose it."""
    return clean(path).replace("\n", " ")


def _note(report: Report) -> str:
    running, limits = report.execution.running, report.limits
    notes = {
        "timeout": f"stopped after {report.seconds} s; give a longer timeout (at most 300) or run_mode=async",
        "memory": f"ended: it took more than {limits.memory // 1_000_000:,} MB; work in smaller pieces",
        "disk": "ended: the workspace is full; remove files",
        "stopped": "it was stopped",
    }
    if running.why:
        return notes[running.why]
    return SIGNALS.get(running.exit_code or 0, "")


def _words(facts: dict[str, Any], changed: int) -> str:
    took = f"{facts['duration_ms'] / 1_000:.1f} s, isolation: {facts['isolation']}"
    lines = [f"exit code {facts['exit_code']} ({took})"]
    lines += [facts["note"]] if "note" in facts else []
    lines += [facts["stdout"].rstrip("\n")] if facts["stdout"] else []
    lines += ["--- stderr ---", facts["stderr"].rstrip("\n")] if facts["stderr"] else []
    lines += [f"the whole output: {', '.join(facts['output_files'])}"] if "output_files" in facts else []
    lines += [_changed(facts["files_changed"], changed)] if changed else []
    lines += [facts["files_note"]] if "files_note" in facts else []
    return "\n".join(lines)


def _changed(files: list[dict[str, Any]], count: int) -> str:
    shown = ", ".join(f"{each['change']} {each['path']}" + _size(each) for each in files)
    return f"files: {shown}" + (f" and {count - len(files)} more" if count > len(files) else "")


def _size(each: dict[str, Any]) -> str:
    return "" if each["change"] == "deleted" else f" ({each['size']:,} bytes)"


def begun(execution: "Execution", level: "Level") -> Result:
    """A process that has been started in the background."""
    facts = {"process_id": execution.id, "status": execution.status, "isolation": level}
    text = f"process {execution.id} runs in the background (isolation: {level}); poll_process shows how it is"
    return Result((Text(text),), data=facts)


async def polled(execution: "Execution", stream: Literal["stdout", "stderr"], count: int) -> Result:
    """How a background process is, with the end of one of its streams."""
    facts = _state(execution)
    facts["tail"] = _lines(execution, stream)[-count:]
    running = execution.status == "running"
    execution.polls = execution.polls + 1 if running else 0
    if execution.polls > POLLS:
        facts["note"] = "it still runs; do something else meanwhile, or stop_process"
    lines = [_line(execution), *facts["tail"]]
    lines += [facts["note"]] if "note" in facts else []
    if running:
        return Result((Text("\n".join(lines)),), data=facts)
    facts["files_changed"] = _files(execution)
    lines += [_changed(facts["files_changed"], len(execution.changed))] if execution.changed else []
    return Result((Text("\n".join(lines)), *await _pictures(execution)), data=facts)


def read(
    execution: "Execution", stream: Literal["stdout", "stderr"], mode: Literal["tail", "head"], count: int
) -> Result:
    """Lines of what a background process has written."""
    every = _lines(execution, stream)
    shown = every[-count:] if mode == "tail" else every[:count]
    facts = {**_state(execution), "stream": stream, "lines": shown, "total_lines": len(every)}
    return Result((Text("\n".join(shown) or f"nothing on {stream} yet"),), data=facts)


def listed(executions: "list[Execution]", wanted: Literal["all", "running", "finished"]) -> Result:
    """The background processes of a session."""
    fits = [each for each in executions if wanted == "all" or (each.status == "running") == (wanted == "running")]
    facts = {"processes": [_state(each) for each in fits]}
    return Result((Text("\n".join(map(_line, fits)) or "none; execute_* with run_mode=async starts one"),), data=facts)


async def stopped(execution: "Execution") -> Result:
    """A background process that has ended."""
    return await polled(execution, "stdout", 10)


def _state(execution: "Execution") -> dict[str, Any]:
    return {
        "process_id": execution.id,
        "title": execution.title[:200],
        "status": execution.status,
        "exit_code": execution.running.exit_code,
        "seconds": round(execution.running.seconds, 1),
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(execution.started_at)),
    }


def _line(execution: "Execution") -> str:
    code = execution.running.exit_code
    ended = "" if code is None else f", exit code {code}"
    seconds = f"{execution.running.seconds:.1f} s"
    return f"process {execution.id} ({execution.title[:80]}): {execution.status}{ended}, {seconds}"


def _lines(execution: "Execution", stream: Literal["stdout", "stderr"]) -> list[str]:
    """What is kept of a stream, line by line; a line of a megabyte is shortened."""
    text = clean(COLOURS.sub("", getattr(execution.running, stream).text))
    return [line if len(line) <= 500 else f"{line[:500]}…" for line in text.splitlines()]
