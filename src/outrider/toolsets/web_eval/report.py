"""What an evaluation came to, as text to be read and as the JSON of contract 12.1; never a picture."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from outrider.agents.evaluations import Evaluation, EvaluationRecord
from outrider.agents.evaluations.evaluation import EvaluationStatus, EvaluationStopReason
from outrider.agents.evaluations.ranking import rank_failures
from outrider.agents.run import Run
from outrider.core.result import Result, TextBlock
from outrider.toolsets.browser.results import clean_line
from outrider.toolsets.run_agent.results import remove_images
from outrider.toolsets.web_eval.done import MAX_RESULT_CHARS
from outrider.toolsets.web_eval.recorder import FinalPage
from outrider.toolsets.web_eval.script import StepOutcome

MAX_ERROR_CHARS = 400
ERRORS, WARNINGS = 8, 20
EXCERPTS, DEV_ERRORS = 5, 10  # of the console and of the network each; of the failures, in dev mode
OBSTACLE_VERDICTS: dict[str, tuple[EvaluationStatus, EvaluationStopReason]] = {
    "login": ("partial", "blocked_page"),
    "captcha": ("partial", "blocked_page"),
    "refused": ("partial", "blocked_page"),
    "impossible": ("partial", "gave_up"),
}
STOP_REASONS: dict[str, EvaluationStopReason] = {
    "time": "budget",
    "tokens": "budget",
    "cost": "budget",
    "steps": "steps",
    "repetition": "gave_up",
    "no_model": "no_model",
    "cancelled": "cancelled",
}


@dataclass
class EvaluationVerdict:
    """How an evaluation ended.

    Attributes:
        result: The final answer; None if there is none.
        timed_out: A limit of time or steps ended it.
        data: The structured answer.
    """

    status: EvaluationStatus
    stop_reason: EvaluationStopReason
    result: str | None = None
    timed_out: bool = False
    warnings: list[str] = field(default_factory=list)
    data: Any = None
    steps: Sequence[StepOutcome] = ()


def judge_run(run: Run, claim: dict[str, Any] | None, *, has_robot_check: bool) -> EvaluationVerdict:
    """The verdict on an agent's run. Success is only what the agent itself has called one.

    Args:
        run: The run, ended.
        claim: What the agent said through `done`; None if it did not.
        has_robot_check: Whether the last page is a robot check.
    """
    unclaimed_warning = "the agent ended without saying through done whether it succeeded, so this is no success"
    if run.status == "cancelled":
        return EvaluationVerdict("failed", "cancelled", run.answer or None, warnings=["the evaluation was cancelled"])
    if claim is not None:
        return _judge_claim(claim, has_robot_check=has_robot_check)
    stop = STOP_REASONS.get(run.stop_reason or "", "error")
    answer = run.answer[:MAX_RESULT_CHARS] or None
    status: EvaluationStatus = "partial" if answer else "failed"
    if run.stop_reason == "done":
        return EvaluationVerdict(
            status, "blocked_page" if has_robot_check else "gave_up", answer, warnings=[unclaimed_warning]
        )
    detail = clean_line(str((run.error or {}).get("message") or f"the run ended: {run.stop_reason}"))
    late = run.stop_reason == "time" or (stop == "steps" and answer is None)
    if stop == "error":
        status = "failed"
    return EvaluationVerdict(
        status, "blocked_page" if has_robot_check and stop != "budget" else stop, answer, late, [detail]
    )


def _judge_claim(claim: dict[str, Any], *, has_robot_check: bool) -> EvaluationVerdict:
    result, data = claim["result"], claim.get("data")
    if claim["success"]:
        return EvaluationVerdict("success", "done", result, data=data)
    obstacle = claim.get("obstacle") or ("captcha" if has_robot_check else None)
    if obstacle is None:
        return EvaluationVerdict("failed", "gave_up", result, warnings=["the agent says that it failed"], data=data)
    status, stop = OBSTACLE_VERDICTS[obstacle]
    return EvaluationVerdict(status, stop, result, warnings=[f"the agent was stopped: {obstacle}"], data=data)


def judge_script(
    outcomes: Sequence[StepOutcome], count: int, *, late: bool, has_robot_check: bool
) -> EvaluationVerdict:
    """The verdict on steps: all of them have passed, or it failed."""
    failed = next((each for each in outcomes if each.has_failed), None)
    passed = sum(not each.has_failed for each in outcomes)
    if failed is None and passed == count:
        return EvaluationVerdict("success", "done", f"All {count} steps passed.", steps=outcomes)
    if failed is not None:
        why = f"Step {failed.step} of {count} ({failed.action}) failed: {failed.outcome}: {failed.text}"
        return EvaluationVerdict("failed", "blocked_page" if has_robot_check else "error", why, steps=outcomes)
    why = f"{passed} of {count} steps passed, then the time was over."
    return EvaluationVerdict("failed", "budget" if late else "cancelled", why, timed_out=late, steps=outcomes)


def build_answer(
    evaluation: Evaluation,
    verdict: EvaluationVerdict,
    final_page: FinalPage,
    records: Sequence[EvaluationRecord],
    counts: dict[str, int],
) -> dict[str, Any]:
    """The JSON of contract 12.1, within its bounds.

    Args:
        evaluation: What was asked.
        verdict: How it ended.
        final_page: The last page.
        records: All failures and agent's steps that were kept.
        counts: How many records of each kind there are.
    """
    artifact_counts = {"screenshots": "agent_step", "stream_samples": "stream_sample", "run_events": "total"}
    max_summary_chars = 2_000
    version = "gsd.web_eval_agent.v1"
    failures = [each for each in records if each.has_error and each.kind != "screenshot"]
    warnings = list(dict.fromkeys(clean_line(each, MAX_ERROR_CHARS) for each in verdict.warnings))[:WARNINGS]
    timed_out = verdict.timed_out
    steps = counts["agent"]
    told = {
        "version": version,
        "session_id": evaluation.id,
        "tool_call_id": evaluation.tool_call_id,
        "url": evaluation.url,
        "task": evaluation.task,
        "mode": evaluation.mode,
        "status": verdict.status,
        "stop_reason": verdict.stop_reason,
        "result": remove_images(verdict.result) if verdict.result else verdict.result,
        "summary": f"steps={steps} errors={len(failures)} warnings={len(warnings)} timed_out={timed_out}"[
            :max_summary_chars
        ],
        "page": _find_last_page(evaluation, final_page, records),
        "errors_top": [_serialize_failure(each) for each in rank_failures(failures, _parse_host(evaluation), ERRORS)],
        "timeouts": evaluation.limits | {"timed_out": timed_out},
        "warnings": warnings,
        "artifacts": {name: counts[kind] for name, kind in artifact_counts.items()},
        "next_actions": suggest_next_actions(evaluation.id, has_errors=bool(failures)),
    }
    told |= {"structured_output": verdict.data} if evaluation.output_schema is not None else {}
    told |= {"steps": [vars(each) for each in verdict.steps]} if verdict.steps else {}
    return told | ({"dev_excerpts": _collect_excerpts(evaluation, failures)} if evaluation.mode == "dev" else {})


def suggest_next_actions(session_id: str, *, has_errors: bool) -> list[str]:
    """The calls that show more."""
    only = ", has_error=true" if has_errors else ""
    return [
        f"Use get_screenshots(session_id='{session_id}', screenshot_type='agent_step', last_n=5)",
        f"Use get_run_events(session_id='{session_id}', last_n=50{only})",
    ]


def build_result(told: dict[str, Any]) -> Result:
    """The answer of `web_eval_agent`: the facts as text first, and the same as data."""
    return Result((TextBlock("\n".join(_format_lines(told))),), data=told, is_error=told["status"] == "failed")


def _format_lines(told: dict[str, Any]) -> list[str]:
    page, artifacts = told["page"], told["artifacts"]
    where = f"- page: {page['url']} {page['title']}".rstrip()
    lines = [f"Result: {told['result'] or '(none)'}"]
    if "structured_output" in told:
        import json

        lines.append(f"Structured output: {json.dumps(told['structured_output'], ensure_ascii=False)}")
    lines += ["", "Summary:", f"- status: {told['status']} ({told['stop_reason']})", f"- {told['summary']}", where]
    lines += [f"- warning: {each}" for each in told["warnings"]]
    lines += [f"- {each['type']} error at step {each['step']}: {each['summary']}" for each in told["errors_top"]]
    lines += [_format_step(each) for each in told.get("steps", ())]
    lines += ["", "Artifacts:", f"- session_id: {told['session_id']}"]
    counted = f"{artifacts['screenshots']} screenshots, {artifacts['stream_samples']} stream samples"
    lines += [f"- {counted}, {artifacts['run_events']} events"]
    lines += [f"- {each}" for each in told["next_actions"]]
    return [*lines, *_format_excerpts(told.get("dev_excerpts"))]


def _format_step(step: dict[str, Any]) -> str:
    said = f": {clean_line(step['text'], 200)}" if step["outcome"] != "ok" else ""
    return f"- step {step['step']} {clean_line(step['action'], 100)}: {step['outcome']} ({step['seconds']:g} s){said}"


def _format_excerpts(excerpts: dict[str, Any] | None) -> list[str]:
    """What only dev mode tells."""
    if not excerpts:
        return []
    kinds = ("console_errors", "network_errors")
    found = [f"- {each['summary']}" for kind in kinds for each in excerpts[kind]]
    return ["", "Console and network errors:", *found] if found else []


def _find_last_page(
    evaluation: Evaluation, final_page: FinalPage, records: Sequence[EvaluationRecord]
) -> dict[str, str]:
    """Where it ended; from the last step, where nothing could be seen any more."""
    if final_page.url:
        return {"url": final_page.url, "title": final_page.title}
    steps = [each for each in records if each.kind == "agent" and each.url]
    last = max(steps, key=lambda each: each.at, default=None)
    return {"url": last.url, "title": last.details.get("title", "")} if last else {"url": evaluation.url, "title": ""}


def _serialize_failure(failure: EvaluationRecord) -> dict[str, Any]:
    summary = failure.summary[:MAX_ERROR_CHARS]
    return {"type": failure.kind, "summary": summary, "step": failure.step, "url": failure.url}


def _collect_excerpts(evaluation: Evaluation, failures: Sequence[EvaluationRecord]) -> dict[str, Any]:
    def filter_kinds(*kinds: str) -> list[EvaluationRecord]:
        return [each for each in failures if each.kind in kinds]

    host = _parse_host(evaluation)
    return {
        "console_errors": [_serialize_failure(each) for each in rank_failures(filter_kinds("console"), host, EXCERPTS)],
        "network_errors": [_serialize_failure(each) for each in rank_failures(filter_kinds("network"), host, EXCERPTS)],
        "errors_top": [_serialize_failure(each) for each in rank_failures(failures, host, DEV_ERRORS)],
    }


def _parse_host(evaluation: Evaluation) -> str:
    return urlsplit(evaluation.url).hostname or ""
