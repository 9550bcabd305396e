"""What an evaluation came to, as text to be read and as the JSON of contract 12.1; never a picture."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from outrider.agents.evaluations import Evaluation, Record
from outrider.agents.evaluations.evaluation import Status, StopReason
from outrider.agents.evaluations.ranking import ranked
from outrider.agents.run import Run
from outrider.core.result import Result, Text
from outrider.toolsets.browser_use import line
from outrider.toolsets.evaluating.done import RESULT_CHARS
from outrider.toolsets.evaluating.script import StepOutcome
from outrider.toolsets.evaluating.watch import Sight
from outrider.toolsets.pictures import without_pictures

VERSION = "gsd.web_eval_agent.v1"
SUMMARY_CHARS = 2_000
ERROR_CHARS = 400
ERRORS, WARNINGS = 8, 20
ARTIFACTS = {"screenshots": "agent_step", "stream_samples": "stream_sample", "run_events": "total"}
EXCERPTS, DEV_ERRORS = 5, 10  # of the console and of the network each; of the failures, in dev mode
OBSTACLES: dict[str, tuple[Status, StopReason]] = {
    "login": ("partial", "blocked_page"),
    "captcha": ("partial", "blocked_page"),
    "refused": ("partial", "blocked_page"),
    "impossible": ("partial", "gave_up"),
}
STOPS: dict[str, StopReason] = {
    "time": "budget",
    "tokens": "budget",
    "cost": "budget",
    "steps": "steps",
    "repetition": "gave_up",
    "no_model": "no_model",
    "cancelled": "cancelled",
}
UNCLAIMED = "the agent ended without saying through done whether it succeeded, so this is no success"


@dataclass
class Verdict:
    """How an evaluation ended.

    Attributes:
        result: The final answer; None if there is none.
        timed_out: A limit of time or steps ended it.
        data: The structured answer.
    """

    status: Status
    stop: StopReason
    result: str | None = None
    timed_out: bool = False
    warnings: list[str] = field(default_factory=list)
    data: Any = None
    steps: Sequence[StepOutcome] = ()


def of_run(run: Run, claim: dict[str, Any] | None, *, wall: bool) -> Verdict:
    """The verdict on an agent's run. Success is only what the agent itself has called one.

    Args:
        run: The run, ended.
        claim: What the agent said through `done`; None if it did not.
        wall: Whether the last page is a robot check.
    """
    if run.status == "cancelled":
        return Verdict("failed", "cancelled", run.answer or None, warnings=["the evaluation was cancelled"])
    if claim is not None:
        return _claimed(claim, wall=wall)
    stop = STOPS.get(run.stop_reason or "", "error")
    answer = run.answer[:RESULT_CHARS] or None
    status: Status = "partial" if answer else "failed"
    if run.stop_reason == "done":
        return Verdict(status, "blocked_page" if wall else "gave_up", answer, warnings=[UNCLAIMED])
    detail = line(str((run.error or {}).get("message") or f"the run ended: {run.stop_reason}"))
    late = run.stop_reason == "time" or (stop == "steps" and answer is None)
    if stop == "error":
        status = "failed"
    return Verdict(status, "blocked_page" if wall and stop != "budget" else stop, answer, late, [detail])


def _claimed(claim: dict[str, Any], *, wall: bool) -> Verdict:
    result, data = claim["result"], claim.get("data")
    if claim["success"]:
        return Verdict("success", "done", result, data=data)
    obstacle = claim.get("obstacle") or ("captcha" if wall else None)
    if obstacle is None:
        return Verdict("failed", "gave_up", result, warnings=["the agent says that it failed"], data=data)
    status, stop = OBSTACLES[obstacle]
    return Verdict(status, stop, result, warnings=[f"the agent was stopped: {obstacle}"], data=data)


def of_script(outcomes: Sequence[StepOutcome], count: int, *, late: bool, wall: bool) -> Verdict:
    """The verdict on steps: all of them have passed, or it failed."""
    failed = next((each for each in outcomes if each.failed), None)
    passed = sum(not each.failed for each in outcomes)
    if failed is None and passed == count:
        return Verdict("success", "done", f"All {count} steps passed.", steps=outcomes)
    if failed is not None:
        why = f"Step {failed.step} of {count} ({failed.action}) failed: {failed.outcome}: {failed.text}"
        return Verdict("failed", "blocked_page" if wall else "error", why, steps=outcomes)
    why = f"{passed} of {count} steps passed, then the time was over."
    return Verdict("failed", "budget" if late else "cancelled", why, timed_out=late, steps=outcomes)


def answer(
    evaluation: Evaluation, verdict: Verdict, sight: Sight, records: Sequence[Record], counts: dict[str, int]
) -> dict[str, Any]:
    """The JSON of contract 12.1, within its bounds.

    Args:
        evaluation: What was asked.
        verdict: How it ended.
        sight: The last page.
        records: All failures and agent's steps that were kept.
        counts: How many records of each kind there are.
    """
    failures = [each for each in records if each.has_error and each.kind != "screenshot"]
    warnings = list(dict.fromkeys(line(each, ERROR_CHARS) for each in verdict.warnings))[:WARNINGS]
    timed_out = verdict.timed_out
    steps = counts["agent"]
    told = {
        "version": VERSION,
        "session_id": evaluation.id,
        "tool_call_id": evaluation.tool_call_id,
        "url": evaluation.url,
        "task": evaluation.task,
        "mode": evaluation.mode,
        "status": verdict.status,
        "stop_reason": verdict.stop,
        "result": without_pictures(verdict.result) if verdict.result else verdict.result,
        "summary": f"steps={steps} errors={len(failures)} warnings={len(warnings)} timed_out={timed_out}"[
            :SUMMARY_CHARS
        ],
        "page": _page(evaluation, sight, records),
        "errors_top": [_shown(each) for each in ranked(failures, _host(evaluation), ERRORS)],
        "timeouts": evaluation.limits | {"timed_out": timed_out},
        "warnings": warnings,
        "artifacts": {name: counts[kind] for name, kind in ARTIFACTS.items()},
        "next_actions": next_actions(evaluation.id, has_errors=bool(failures)),
    }
    told |= {"structured_output": verdict.data} if evaluation.output_schema is not None else {}
    told |= {"steps": [vars(each) for each in verdict.steps]} if verdict.steps else {}
    return told | ({"dev_excerpts": _excerpts(evaluation, failures)} if evaluation.mode == "dev" else {})


def next_actions(session_id: str, *, has_errors: bool) -> list[str]:
    """The calls that show more."""
    only = ", has_error=true" if has_errors else ""
    return [
        f"Use get_screenshots(session_id='{session_id}', screenshot_type='agent_step', last_n=5)",
        f"Use get_run_events(session_id='{session_id}', last_n=50{only})",
    ]


def result(told: dict[str, Any]) -> Result:
    """The answer of `web_eval_agent`: the facts as text first, and the same as data."""
    return Result((Text("\n".join(_lines(told))),), data=told, is_error=told["status"] == "failed")


def _lines(told: dict[str, Any]) -> list[str]:
    page, artifacts = told["page"], told["artifacts"]
    where = f"- page: {page['url']} {page['title']}".rstrip()
    lines = [f"Result: {told['result'] or '(none)'}"]
    if "structured_output" in told:
        import json

        lines.append(f"Structured output: {json.dumps(told['structured_output'], ensure_ascii=False)}")
    lines += ["", "Summary:", f"- status: {told['status']} ({told['stop_reason']})", f"- {told['summary']}", where]
    lines += [f"- warning: {each}" for each in told["warnings"]]
    lines += [f"- {each['type']} error at step {each['step']}: {each['summary']}" for each in told["errors_top"]]
    lines += [_step(each) for each in told.get("steps", ())]
    lines += ["", "Artifacts:", f"- session_id: {told['session_id']}"]
    counted = f"{artifacts['screenshots']} screenshots, {artifacts['stream_samples']} stream samples"
    lines += [f"- {counted}, {artifacts['run_events']} events"]
    lines += [f"- {each}" for each in told["next_actions"]]
    return [*lines, *_dev_lines(told.get("dev_excerpts"))]


def _step(step: dict[str, Any]) -> str:
    said = f": {line(step['text'], 200)}" if step["outcome"] != "ok" else ""
    return f"- step {step['step']} {line(step['action'], 100)}: {step['outcome']} ({step['seconds']:g} s){said}"


def _dev_lines(excerpts: dict[str, Any] | None) -> list[str]:
    """What only dev mode tells."""
    if not excerpts:
        return []
    kinds = ("console_errors", "network_errors")
    found = [f"- {each['summary']}" for kind in kinds for each in excerpts[kind]]
    return ["", "Console and network errors:", *found] if found else []


def _page(evaluation: Evaluation, sight: Sight, records: Sequence[Record]) -> dict[str, str]:
    """Where it ended; from the last step, where nothing could be seen any more."""
    if sight.url:
        return {"url": sight.url, "title": sight.title}
    steps = [each for each in records if each.kind == "agent" and each.url]
    last = max(steps, key=lambda each: each.at, default=None)
    return {"url": last.url, "title": last.details.get("title", "")} if last else {"url": evaluation.url, "title": ""}


def _shown(failure: Record) -> dict[str, Any]:
    summary = failure.summary[:ERROR_CHARS]
    return {"type": failure.kind, "summary": summary, "step": failure.step, "url": failure.url}


def _excerpts(evaluation: Evaluation, failures: Sequence[Record]) -> dict[str, Any]:
    def of(*kinds: str) -> list[Record]:
        return [each for each in failures if each.kind in kinds]

    host = _host(evaluation)
    return {
        "console_errors": [_shown(each) for each in ranked(of("console"), host, EXCERPTS)],
        "network_errors": [_shown(each) for each in ranked(of("network"), host, EXCERPTS)],
        "errors_top": [_shown(each) for each in ranked(failures, host, DEV_ERRORS)],
    }


def _host(evaluation: Evaluation) -> str:
    return urlsplit(evaluation.url).hostname or ""
