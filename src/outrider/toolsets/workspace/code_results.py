"""Build results of executions and background processes."""

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import anyio

from outrider.core.errors import OutriderError
from outrider.core.result import FILES_META_KEY, ImageBlock, Result, TextBlock
from outrider.core.untrusted import clean_untrusted
from outrider.workspace.kernels.pool import describe_lost_names
from outrider.workspace.processes import Execution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from outrider.workspace.sandbox.job import IsolationLevel, ResourceLimits

ANSI_ESCAPES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@dataclass(frozen=True)
class ExecutionReport:
    """An execution in the foreground, with its isolation and limits.

    `package_problem` is why the packages of the settings could not be installed.
    """

    execution: "Execution[Any]"
    level: "IsolationLevel"
    limits: "ResourceLimits"
    seconds: int
    package_problem: str = ""


async def build_execution_result(report: ExecutionReport) -> Result:
    """Build the result of an execution that has ended: output, changed files and pictures."""
    from outrider.workspace.sandbox.packages import describe_missing_package

    max_output_chars = 30_000  # both streams together
    max_error_chars = 10_000  # of stderr, if both are long
    execution = report.execution
    process = execution.process
    stdout, err = process.stdout.text, process.stderr.text
    short_err, cut_err = shorten_output(err, max(max_error_chars, max_output_chars - len(stdout)))
    short_out, cut_out = shorten_output(stdout, max_output_chars - len(short_err))
    full_outputs = {"stdout": stdout} if cut_out else {}
    full_outputs |= {"stderr": err} if cut_err else {}
    data: dict[str, Any] = {
        "exit_code": process.exit_code,
        "stdout": short_out,
        "stderr": short_err,
        "duration_ms": round(process.seconds * 1_000),
        "timed_out": process.end_reason == "timeout",
        "truncated": bool(full_outputs) or process.stdout.dropped + process.stderr.dropped > 0,
        "files_changed": _serialize_files(execution),
        "isolation": report.level,
    }
    if paths := await _save_outputs(execution, full_outputs):
        data["output_files"] = paths
    if execution.has_too_many_files:
        data["files_note"] = "the workspace has too many files to list those that were created or removed"
    data |= await _describe_value(execution)
    missing = describe_missing_package(err, report.package_problem)
    if notes := [*getattr(process, "notes", []), *_explain_end(report), *([missing] if missing else [])]:
        # Hostile code may have chosen the names of lost variables.
        data["note"] = clean_untrusted("; ".join(notes)).replace("\n", " ")
    text = TextBlock(_format_execution(data, len(execution.changed)))
    is_error = bool(process.exit_code or process.end_reason)
    return Result(
        (text, *await _load_pictures(execution)), data=data, meta=_build_files_meta(execution), is_error=is_error
    )


def shorten_output(text: str, limit: int) -> tuple[str, bool]:
    """Remove control sequences and the middle of a text over `limit` characters; return whether it was cut."""
    text = clean_untrusted(ANSI_ESCAPES.sub("", text))
    limit = max(limit, 0)
    if len(text) <= limit:
        return text, False
    head, tail = limit * 2 // 3, limit - limit * 2 // 3
    return f"{text[:head]}\n… ({len(text) - limit:,} characters are left out here) …\n{text[-tail:]}", True


async def _save_outputs(execution: "Execution[Any]", outputs: dict[str, str]) -> list[str]:
    """Save outputs as files of the workspace and return their paths."""
    paths: list[str] = []
    for stream, text in outputs.items():
        path = f"outputs/{execution.id}.{stream}.txt"
        try:
            await anyio.to_thread.run_sync(execution.workspace.files.write, path, text)
        except OutriderError:
            continue  # the workspace is full; the result has the shortened output
        paths.append(path)
    return paths


async def _load_pictures(execution: "Execution[Any]") -> list[ImageBlock]:
    from outrider.workspace.changes import collect_images

    images = await anyio.to_thread.run_sync(collect_images, execution.workspace.files, execution.changed)
    return [ImageBlock(image.data, image.mime_type) for image in images]


def _serialize_files(execution: "Execution[Any]") -> list[dict[str, Any]]:
    max_listed_files = 50
    # Hostile code may have chosen the paths: they are put on one line, without invisible characters.
    return [
        vars(file) | {"path": clean_untrusted(file.path).replace("\n", " ")}
        for file in execution.changed[:max_listed_files]
    ]


def _build_files_meta(execution: "Execution[Any]") -> dict[str, Any]:
    max_listed_files = 50
    paths = [file.path for file in execution.changed if file.change != "deleted"][:max_listed_files]
    return {FILES_META_KEY: [{"path": path} for path in paths]} if paths else {}


async def _describe_value(execution: "Execution[Any]") -> dict[str, Any]:
    """Return a cell's value, and the file with a long one."""
    max_value_chars = 20_000
    value = getattr(execution.process, "value", None)
    if value is None:
        return {}
    text, was_cut = shorten_output(value, max_value_chars)
    paths = await _save_outputs(execution, {"value": value}) if was_cut else []
    return {"value": text} | ({"value_file": paths[0]} if paths else {})


def _explain_end(report: ExecutionReport) -> list[str]:
    """Explain why the process was ended or which signal killed it; empty for a normal exit."""
    process, limits = report.execution.process, report.limits
    end_notes = {
        "timeout": f"stopped after {report.seconds} s; give a longer timeout (at most 300) or run_mode=async",
        "memory": f"ended: it used more than {limits.memory // 1_000_000:,} MB; work in smaller pieces",
        "disk": "ended: the workspace is full; remove files",
        "stopped": "it was stopped",
    }
    signal_notes = {
        133: "it crashed with a trap, as Deno does when memory runs out",
        134: "it aborted",
        137: "it was killed",
        139: "it crashed (segmentation fault)",
        152: "it reached the CPU time limit",
    }
    note = end_notes[process.end_reason] if process.end_reason else signal_notes.get(process.exit_code or 0, "")
    lost_names: list[str] | None = getattr(process, "lost_names", None)
    if lost_names is None:
        return [note] if note else []
    loss = describe_lost_names(lost_names)
    loss = f"{loss}, and" if loss else "; lost:"
    ended = f"the interpreter ended; the next call starts a new one{loss} what this call had set"
    return [note or f"the code ended its process with exit code {process.exit_code}", ended]


def _format_execution(data: dict[str, Any], changed: int) -> str:
    lines = [f"exit code {data['exit_code']} ({data['duration_ms'] / 1_000:.1f} s, isolation: {data['isolation']})"]
    lines += [data["note"]] if "note" in data else []
    lines += [data["stdout"].rstrip("\n")] if data["stdout"] else []
    if "value" in data:
        separator = "\n" if "\n" in data["value"] else " "
        lines.append(f"value:{separator}{data['value']}")
    is_silent = not data["stdout"] and not data["stderr"] and "value" not in data and data["exit_code"] == 0
    lines += ["(nothing was printed, and the last line has no value)"] if is_silent else []
    lines += ["--- stderr ---", data["stderr"].rstrip("\n")] if data["stderr"] else []
    lines += [f"the whole output: {', '.join(data['output_files'])}"] if "output_files" in data else []
    lines += [f"the whole value: {data['value_file']}"] if "value_file" in data else []
    lines += [_format_changed_files(data["files_changed"], changed)] if changed else []
    lines += [data["files_note"]] if "files_note" in data else []
    return "\n".join(lines)


def _format_changed_files(files: list[dict[str, Any]], count: int) -> str:
    changes = []
    for file in files:
        size = "" if file["change"] == "deleted" else f" ({file['size']:,} bytes)"
        changes.append(f"{file['change']} {file['path']}{size}")
    return f"files: {', '.join(changes)}" + (f" and {count - len(files)} more" if count > len(files) else "")


def build_started_result(execution: "Execution[Any]", level: "IsolationLevel") -> Result:
    """Build the result of a process that was started in the background."""
    data = {"process_id": execution.id, "status": execution.status, "isolation": level}
    text = f"process {execution.id} runs in the background (isolation: {level}); poll_process shows its state"
    return Result((TextBlock(text),), data=data)


async def build_poll_result(execution: "Execution[Any]", stream: Literal["stdout", "stderr"], count: int) -> Result:
    """Build the state of a background process, with the last `count` lines of one of its streams."""
    max_polls = 5  # in a row, before the model is advised to do something else
    data = _serialize_process(execution)
    data["tail"] = _split_stream_lines(execution, stream)[-count:]
    is_running = execution.status == "running"
    execution.poll_count = execution.poll_count + 1 if is_running else 0
    if execution.poll_count > max_polls:
        data["note"] = "it is still running; do something else in the meantime, or stop_process"
    lines = [_format_process(execution), *data["tail"]]
    lines += [data["note"]] if "note" in data else []
    if is_running:
        return Result((TextBlock("\n".join(lines)),), data=data)
    data["files_changed"] = _serialize_files(execution)
    lines += [_format_changed_files(data["files_changed"], len(execution.changed))] if execution.changed else []
    content = (TextBlock("\n".join(lines)), *await _load_pictures(execution))
    return Result(content, data=data, meta=_build_files_meta(execution))


def build_input_result(execution: "Execution[Any]", text: str, was_closed: bool) -> Result:
    """Build the result of writing to a background process."""
    data = {**_serialize_process(execution), "characters": len(text), "input_closed": was_closed}
    closed = ", and its input is closed" if was_closed else ""
    return Result(
        (
            TextBlock(
                f"wrote {len(text):,} characters to process {execution.id}{closed}; poll_process shows its output"
            ),
        ),
        data=data,
    )


def build_output_result(
    execution: "Execution[Any]", stream: Literal["stdout", "stderr"], mode: Literal["tail", "head"], count: int
) -> Result:
    """Build the first or last `count` lines that a background process has written."""
    all_lines = _split_stream_lines(execution, stream)
    lines = all_lines[-count:] if mode == "tail" else all_lines[:count]
    data = {**_serialize_process(execution), "stream": stream, "lines": lines, "total_lines": len(all_lines)}
    return Result((TextBlock("\n".join(lines) or f"nothing written to {stream} yet"),), data=data)


def build_process_list(executions: "Sequence[Execution[Any]]", status: Literal["all", "running", "finished"]) -> Result:
    """Build the list of a session's background processes with that status."""
    selected = [
        execution
        for execution in executions
        if status == "all" or (execution.status == "running") == (status == "running")
    ]
    text = "\n".join(map(_format_process, selected)) or "none; execute_* with run_mode=async starts one"
    return Result((TextBlock(text),), data={"processes": [_serialize_process(execution) for execution in selected]})


def _serialize_process(execution: "Execution[Any]") -> dict[str, Any]:
    return {
        "process_id": execution.id,
        "title": execution.title[:200],
        "status": execution.status,
        "exit_code": execution.process.exit_code,
        "seconds": round(execution.process.seconds, 1),
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(execution.started_at)),
    }


def _format_process(execution: "Execution[Any]") -> str:
    process = execution.process
    exit_code = "" if process.exit_code is None else f", exit code {process.exit_code}"
    state = f"{execution.status}{exit_code}, {process.seconds:.1f} s"
    return f"process {execution.id} ({execution.title[:80]}): {state}"


def _split_stream_lines(execution: "Execution[Any]", stream: Literal["stdout", "stderr"]) -> list[str]:
    """Return the stored lines of a stream, each cut to 500 characters."""
    text = clean_untrusted(ANSI_ESCAPES.sub("", getattr(execution.process, stream).text))
    return [line if len(line) <= 500 else f"{line[:500]}…" for line in text.splitlines()]
