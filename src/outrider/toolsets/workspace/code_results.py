"""What an execution was like, in words and as data."""

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import anyio

from outrider.core.errors import OutriderError
from outrider.core.result import ImageBlock, Result, ResultBlock, TextBlock
from outrider.core.untrusted import clean_untrusted
from outrider.workspace.processes import Execution

if TYPE_CHECKING:
    from outrider.workspace.sandbox.job import IsolationLevel, ResourceLimits

ANSI_ESCAPES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
SIGNAL_NOTES = {
    133: "it trapped, as Deno does when its memory is full",
    134: "it aborted",
    137: "it was killed",
    139: "it crashed (segmentation fault)",
    152: "CPU time limit",
}


@dataclass(frozen=True)
class ExecutionReport:
    """An execution in the foreground, with what it was allowed."""

    execution: "Execution"
    level: "IsolationLevel"
    limits: "ResourceLimits"
    seconds: int


async def build_execution_result(report: ExecutionReport) -> Result:
    """The result of an execution that is over: output, changed files and pictures."""
    files_note = "the workspace holds more files than are looked at: which ones were made or removed is not told"
    max_error_chars = 10_000  # of them for the stream of errors, where both are long
    max_output_chars = 30_000  # characters of both streams together
    execution = report.execution
    running = execution.process
    out, err = running.stdout.text, running.stderr.text
    errors, cut_err = shorten_output(err, max(max_error_chars, max_output_chars - len(out)))
    text, cut_out = shorten_output(out, max_output_chars - len(errors))
    whole = {"stdout": out} if cut_out else {}
    whole |= {"stderr": err} if cut_err else {}
    facts: dict[str, Any] = {
        "exit_code": running.exit_code,
        "stdout": text,
        "stderr": errors,
        "duration_ms": round(running.seconds * 1_000),
        "timed_out": running.end_reason == "timeout",
        "truncated": bool(whole) or running.stdout.dropped + running.stderr.dropped > 0,
        "files_changed": _serialize_files(execution),
        "isolation": report.level,
    }
    facts |= await _save_outputs(execution, whole)
    facts |= {"files_note": files_note} if execution.has_too_many_files else {}
    if note := _explain_end(report):
        facts["note"] = note
    items: tuple[ResultBlock, ...] = (
        TextBlock(_format_execution(facts, len(execution.changed))),
        *await _load_pictures(execution),
    )
    return Result(items, data=facts, is_error=bool(running.exit_code or running.end_reason))


def shorten_output(text: str, limit: int) -> tuple[str, bool]:
    """The text without invisible characters and colours, its middle left out where it is too long."""
    text = clean_untrusted(ANSI_ESCAPES.sub("", text))
    limit = max(limit, 0)
    if len(text) <= limit:
        return text, False
    head, tail = limit * 2 // 3, limit - limit * 2 // 3
    return f"{text[:head]}\n… ({len(text) - limit:,} characters are left out here) …\n{text[-tail:]}", True


async def _save_outputs(execution: "Execution", whole: dict[str, str]) -> dict[str, Any]:
    """Keeps what is too long as files of the workspace, and says where."""
    output_folder = "outputs"
    paths: list[str] = []
    for stream, text in whole.items():
        path = f"{output_folder}/{execution.id}.{stream}.txt"
        try:
            await anyio.to_thread.run_sync(execution.workspace.files.write, path, text)
        except OutriderError:  # no room: what is shown must do
            continue
        paths.append(path)
    return {"output_files": paths} if paths else {}


async def _load_pictures(execution: "Execution") -> list[ImageBlock]:
    from outrider.workspace.images import collect_images

    found = await anyio.to_thread.run_sync(collect_images, execution.workspace.files, execution.changed)
    return [ImageBlock(each.data, each.mime_type) for each in found]


def _serialize_files(execution: "Execution") -> list[dict[str, Any]]:
    max_files_shown = 50
    return [vars(each) | {"path": _name(each.path)} for each in execution.changed[:max_files_shown]]


def _name(path: str) -> str:
    """A path on one line, without what hides or cannot be written down: code chose it."""
    return clean_untrusted(path).replace("\n", " ")


def _explain_end(report: ExecutionReport) -> str:
    running, limits = report.execution.process, report.limits
    notes = {
        "timeout": f"stopped after {report.seconds} s; give a longer timeout (at most 300) or run_mode=async",
        "memory": f"ended: it took more than {limits.memory // 1_000_000:,} MB; work in smaller pieces",
        "disk": "ended: the workspace is full; remove files",
        "stopped": "it was stopped",
    }
    if running.end_reason:
        return notes[running.end_reason]
    return SIGNAL_NOTES.get(running.exit_code or 0, "")


def _format_execution(facts: dict[str, Any], changed: int) -> str:
    took = f"{facts['duration_ms'] / 1_000:.1f} s, isolation: {facts['isolation']}"
    lines = [f"exit code {facts['exit_code']} ({took})"]
    lines += [facts["note"]] if "note" in facts else []
    lines += [facts["stdout"].rstrip("\n")] if facts["stdout"] else []
    lines += ["--- stderr ---", facts["stderr"].rstrip("\n")] if facts["stderr"] else []
    lines += [f"the whole output: {', '.join(facts['output_files'])}"] if "output_files" in facts else []
    lines += [_format_changed_files(facts["files_changed"], changed)] if changed else []
    lines += [facts["files_note"]] if "files_note" in facts else []
    return "\n".join(lines)


def _format_changed_files(files: list[dict[str, Any]], count: int) -> str:
    shown = ", ".join(f"{each['change']} {each['path']}" + _size(each) for each in files)
    return f"files: {shown}" + (f" and {count - len(files)} more" if count > len(files) else "")


def _size(each: dict[str, Any]) -> str:
    return "" if each["change"] == "deleted" else f" ({each['size']:,} bytes)"


def build_started_result(execution: "Execution", level: "IsolationLevel") -> Result:
    """A process that has been started in the background."""
    facts = {"process_id": execution.id, "status": execution.status, "isolation": level}
    text = f"process {execution.id} runs in the background (isolation: {level}); poll_process shows how it is"
    return Result((TextBlock(text),), data=facts)


async def build_poll_result(execution: "Execution", stream: Literal["stdout", "stderr"], count: int) -> Result:
    """How a background process is, with the end of one of its streams."""
    max_polls = 5  # in a row, then advice
    facts = _serialize_process(execution)
    facts["tail"] = _split_stream_lines(execution, stream)[-count:]
    running = execution.status == "running"
    execution.poll_count = execution.poll_count + 1 if running else 0
    if execution.poll_count > max_polls:
        facts["note"] = "it still runs; do something else meanwhile, or stop_process"
    lines = [_format_process(execution), *facts["tail"]]
    lines += [facts["note"]] if "note" in facts else []
    if running:
        return Result((TextBlock("\n".join(lines)),), data=facts)
    facts["files_changed"] = _serialize_files(execution)
    lines += [_format_changed_files(facts["files_changed"], len(execution.changed))] if execution.changed else []
    return Result((TextBlock("\n".join(lines)), *await _load_pictures(execution)), data=facts)


def build_output_result(
    execution: "Execution", stream: Literal["stdout", "stderr"], mode: Literal["tail", "head"], count: int
) -> Result:
    """Lines of what a background process has written."""
    every = _split_stream_lines(execution, stream)
    shown = every[-count:] if mode == "tail" else every[:count]
    facts = {**_serialize_process(execution), "stream": stream, "lines": shown, "total_lines": len(every)}
    return Result((TextBlock("\n".join(shown) or f"nothing on {stream} yet"),), data=facts)


def build_process_list(executions: "list[Execution]", wanted: Literal["all", "running", "finished"]) -> Result:
    """The background processes of a session."""
    fits = [each for each in executions if wanted == "all" or (each.status == "running") == (wanted == "running")]
    facts = {"processes": [_serialize_process(each) for each in fits]}
    return Result(
        (TextBlock("\n".join(map(_format_process, fits)) or "none; execute_* with run_mode=async starts one"),),
        data=facts,
    )


async def build_stopped_result(execution: "Execution") -> Result:
    """A background process that has ended."""
    return await build_poll_result(execution, "stdout", 10)


def _serialize_process(execution: "Execution") -> dict[str, Any]:
    return {
        "process_id": execution.id,
        "title": execution.title[:200],
        "status": execution.status,
        "exit_code": execution.process.exit_code,
        "seconds": round(execution.process.seconds, 1),
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(execution.started_at)),
    }


def _format_process(execution: "Execution") -> str:
    code = execution.process.exit_code
    ended = "" if code is None else f", exit code {code}"
    seconds = f"{execution.process.seconds:.1f} s"
    return f"process {execution.id} ({execution.title[:80]}): {execution.status}{ended}, {seconds}"


def _split_stream_lines(execution: "Execution", stream: Literal["stdout", "stderr"]) -> list[str]:
    """What is kept of a stream, line by line; a line of a megabyte is shortened."""
    text = clean_untrusted(ANSI_ESCAPES.sub("", getattr(execution.process, stream).text))
    return [line if len(line) <= 500 else f"{line[:500]}…" for line in text.splitlines()]
