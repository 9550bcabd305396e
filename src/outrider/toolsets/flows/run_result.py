"""Describe the result of a flow's run, without its secrets."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio

from outrider.core.context import Call
from outrider.core.csv_rows import format_csv
from outrider.core.errors import OutriderError, Refused
from outrider.core.jail import rename_error_field
from outrider.core.result import Result, TextBlock
from outrider.core.text import format_count
from outrider.flows.flow_file import find_step_line
from outrider.flows.flow_runs import StoredRun
from outrider.flows.positions import to_number
from outrider.flows.program import FlowProgram
from outrider.flows.repair import REPAIRABLE_REASONS
from outrider.flows.run import FlowRun, Stop
from outrider.toolsets.browser.results import escape_line, take_notes
from outrider.toolsets.options import ToolOptions
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.browser.session.session import Session

MAX_SHOWN_ROWS = 100


async def save_result_files(workspaces: SessionWorkspaces, call: Call, run: FlowRun) -> None:
    """Write the extracted rows to the files of the workspace that the flow names."""
    if run.files and call.grant is not None:
        call.grant.require_write_role("a file would be saved")
    for path, name in run.files.items():
        rows = run.results[name]
        text = format_csv(rows) if path.lower().endswith(".csv") else json.dumps(rows, ensure_ascii=False, indent=2)
        data = f"{text.rstrip()}\n".encode("utf-8", "replace")
        with rename_error_field("file"):
            workspace = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
            await anyio.to_thread.run_sync(workspace.files.write_bytes, path, data)


def build_run_result(
    tool_options: ToolOptions,
    program: FlowProgram,
    run: FlowRun,
    run_id: str,
    session: "Session | None",
    picture_url: str,
) -> Result:
    """Describe a run; `session` is None if it was closed, `picture_url` is empty without a picture."""
    flow = program.flow
    lines = [f"step {position}: {escape_line(note)}" for position, note in run.healed]
    lines = [f"Recognised although it changed: {line}" for line in lines]
    lines += [f"Note: {note}" for note in (*run.notes, *(take_notes(session) if session else ()))]
    data: dict[str, Any] = {"name": flow.name, "version": flow.version, "runId": run_id} | run.to_dict()
    data |= {"sessionId": session.id} if session else {}
    if run.results:
        data["data"] = {name: rows[:MAX_SHOWN_ROWS] for name, rows in run.results.items()}
        lines += _describe_rows(tool_options, run, flow.origins[0])
    if run.stop is None:
        data |= {"files": list(run.files)} if run.files else {}
        head = f"{flow.name} succeeded: {format_count(len(run.steps), 'step')} in {run.seconds:.1f} s, without a model."
        return Result((TextBlock("\n".join([head, *lines])),), data=data)
    error = _build_stop_error(program, run.stop, run_id, session.id if session else "")
    if picture_url:
        data |= {"picture": picture_url}
        where = picture_url if "://" in picture_url else f"{picture_url} of `outrider dashboard`"
        lines.append(f"Picture of the page: {where}")
    outline = tool_options.mark_untrusted(run.stop.outline, run.stop.url)
    text = "\n".join([error.message, error.hint, *lines, outline])
    return Result((TextBlock(text),), data=data | {"error": error.to_dict()}, is_error=True)


def _describe_rows(tool_options: ToolOptions, run: FlowRun, origin: str) -> list[str]:
    """Show the first rows of each result."""
    max_lines = 20
    lines: list[str] = []
    for name, rows in run.results.items():
        files = [path for path, result in run.files.items() if result == name and run.stop is None]
        place = f", all in {', '.join(files)}" if files else ""
        lines.append(f"{name}: {len(rows)} rows{place}")
        if len(rows) > MAX_SHOWN_ROWS and not files:
            lines.append(f"Note: the answer has the first {MAX_SHOWN_ROWS}; add `file` to the extraction for all")
        shown = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows[:max_lines])
        lines.append(tool_options.mark_untrusted(shown, origin))
    return lines


def _build_stop_error(program: FlowProgram, stop: Stop, run_id: str, session_id: str) -> OutriderError:
    """Build the error of a run that stopped; its code is the reason."""
    onward = f"resumeFlow with runId={run_id} and fromStep={stop.next_step}"
    fixes = {"data_mismatch": "compare `extract` with the page, correct the flow", "failed": "correct that"}
    if stop.reason == "unknown_effect":
        onward = f"resumeFlow with runId={run_id} and unknownStep=done or again"
        hint = f"check whether step {stop.step} was done, then {onward}"
    elif not session_id:
        hint = "run it again without keepOpen=false to see the page where it stopped"
    elif stop.reason == "check_failed":
        hint = f"check whether it worked: if so, {onward}; else correct the flow"
    elif stop.reason == "needs_person":
        hint = f"let a person sign in in session {session_id}, then {onward}"
    elif stop.reason == "origin_refused":
        hint = "add the site to the flow's origins if it belongs there"
    elif stop.reason in fixes and stop.next_step == stop.step:
        hint = f"{fixes[stop.reason]}, then {onward}"
    else:
        by_hand = f"resumeFlow with runId={run_id} and fromStep={stop.after_step}"
        hint = f"do step {stop.step} by hand in session {session_id}, then {by_hand}"
    if stop.place and stop.reason in REPAIRABLE_REASONS:
        hint += f"; or put another element into the step: repairFlow with runId={run_id}"
    details: dict[str, Any] = {"reason": stop.reason, "step": to_number(stop.step)}
    details |= {"fromStep": to_number(stop.next_step), "url": stop.url[:2_000]}
    details |= {"runId": run_id} | ({"sessionId": session_id} if session_id else {})
    details |= {"flow": stop.flow, "line": find_step_line(program.texts[stop.flow], stop.place)} if stop.place else {}
    place = f", line {details['line']} of {stop.flow}.yaml" if stop.place else ""
    message = f"{program.flow.name} stopped ({stop.reason}{place}): {escape_line(stop.message)}"
    return Refused(message, code=stop.reason, hint=hint, details=details)


def describe_run(run: StoredRun) -> dict[str, Any]:
    """Describe a stored run for lists."""
    state = "interrupted" if run.is_interrupted else run.state
    started = datetime.fromtimestamp(run.started_at, UTC).isoformat(timespec="seconds")
    row: dict[str, Any] = {
        "runId": run.id,
        "name": run.flow,
        "version": run.version,
        "state": state,
        "startedAt": started,
    }
    row |= {"seconds": round(run.ended_at - run.started_at, 1)} if run.ended_at else {}
    row |= {"step": run.step} if run.step and state != "done" else {}
    row |= {"scheduled": True} if run.schedule else {}
    row |= {"healed": run.healed} if run.healed else {}
    row |= {"message": escape_line(run.message)} if run.message else {}
    return row | ({"notices": [escape_line(each) for each in run.notice_problems]} if run.notice_problems else {})


def format_run(run: StoredRun) -> str:
    """Describe a stored run in one line, followed by the problems of its notices."""
    row = describe_run(run)
    words = [str(value) for name, value in row.items() if name not in ("scheduled", "healed", "notices")]
    words += ["scheduled"] if "scheduled" in row else []
    words += [f"healed {row['healed']}"] if "healed" in row else []
    return "\n".join([" ".join(words), *(f"  notice not sent: {each}" for each in row.get("notices", ()))])
