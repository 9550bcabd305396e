"""Judge evaluations and report them as text and as JSON, without pictures."""

import json
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
from outrider.toolsets.web_eval.script import StepOutcome

MAX_ERROR_CHARS = 400
STOP_REASONS: dict[str, EvaluationStopReason] = {
    "time": "budget",
    "tokens": "budget",
    "cost": "budget",
    "steps": "steps",
    "repetition": "gave_up",
    "no_model": "no_model",
    "cancelled": "cancelled",
}


@dataclass(frozen=True)
class FinalPage:
    """The page at the end of an evaluation: its first 2,000 characters and its frames' addresses."""

    url: str = ""
    title: str = ""
    text: str = ""
    frames: tuple[str, ...] = ()


@dataclass
class EvaluationVerdict:
    """The end of an evaluation.

    Attributes:
        result: The final answer; None if there is none.
        timed_out: Whether a limit of time or steps ended it.
        data: The structured answer.
        findings: Bugs of the site that the agent has seen.
    """

    status: EvaluationStatus
    stop_reason: EvaluationStopReason
    result: str | None = None
    timed_out: bool = False
    warnings: list[str] = field(default_factory=list)
    data: Any = None
    findings: Sequence[str] = ()
    steps: Sequence[StepOutcome] = ()


def judge_run(run: Run, claim: dict[str, Any] | None, *, has_robot_check: bool) -> EvaluationVerdict:
    """Judge an agent's run. It is a success only if the agent reported that through `done`.

    Args:
        run: The run, which has ended.
        claim: The arguments of `done`; None if the agent did not call it.
        has_robot_check: Whether the last page is a bot check.
    """
    if run.status == "cancelled":
        return EvaluationVerdict("failed", "cancelled", run.answer or None, warnings=["the evaluation was cancelled"])
    if claim is not None:
        return _judge_claim(claim, has_robot_check=has_robot_check)
    text = run.answer[:MAX_RESULT_CHARS] or None
    status: EvaluationStatus = "partial" if text else "failed"
    if run.stop_reason == "done":
        warning = "the agent ended without calling done, so this does not count as a success"
        return EvaluationVerdict(status, "blocked_page" if has_robot_check else "gave_up", text, warnings=[warning])
    stop = STOP_REASONS.get(run.stop_reason or "", "error")
    warning = clean_line(str((run.error or {}).get("message") or f"the run ended: {run.stop_reason}"))
    timed_out = run.stop_reason == "time" or (stop == "steps" and text is None)
    if stop == "error":
        status = "failed"
    if has_robot_check and stop != "budget":
        stop = "blocked_page"
    return EvaluationVerdict(status, stop, text, timed_out, [warning])


def _judge_claim(claim: dict[str, Any], *, has_robot_check: bool) -> EvaluationVerdict:
    result, data = claim["result"], claim.get("data")
    findings = [clean_line(finding, 1_000) for finding in claim.get("findings") or ()]
    if claim["success"]:
        return EvaluationVerdict("success", "done", result, data=data, findings=findings)
    obstacle = claim.get("obstacle") or ("captcha" if has_robot_check else None)
    if obstacle is None:
        warnings = ["the agent reports that it failed"]
        return EvaluationVerdict("failed", "gave_up", result, warnings=warnings, data=data, findings=findings)
    stop = "gave_up" if obstacle == "impossible" else "blocked_page"
    warnings = [f"the agent was stopped: {obstacle}"]
    return EvaluationVerdict("partial", stop, result, warnings=warnings, data=data, findings=findings)


def judge_script(
    outcomes: Sequence[StepOutcome], count: int, *, timed_out: bool, has_robot_check: bool
) -> EvaluationVerdict:
    """Judge a script of `count` steps: it is a success only if all of them passed."""
    failed = next((outcome for outcome in outcomes if outcome.has_failed), None)
    if failed is not None:
        text = f"Step {failed.step} of {count} ({failed.action}) failed: {failed.outcome}: {failed.text}"
        return EvaluationVerdict("failed", "blocked_page" if has_robot_check else "error", text, steps=outcomes)
    if len(outcomes) == count:
        return EvaluationVerdict("success", "done", f"All {count} steps passed.", steps=outcomes)
    text = f"{len(outcomes)} of {count} steps passed before time ran out."
    stop = "budget" if timed_out else "cancelled"
    return EvaluationVerdict("failed", stop, text, timed_out=timed_out, steps=outcomes)


def build_answer(
    evaluation: Evaluation,
    verdict: EvaluationVerdict,
    final_page: FinalPage,
    records: Sequence[EvaluationRecord],
    counts: dict[str, int],
) -> dict[str, Any]:
    """Build the JSON answer of `web_eval_agent`.

    Args:
        evaluation: The evaluation.
        verdict: Its end.
        final_page: The last page.
        records: Its stored failures and its last step.
        counts: Number of records of each kind.
    """
    max_errors, max_warnings = 8, 20
    failures = [record for record in records if record.has_error and record.kind != "screenshot"]
    warnings = list(dict.fromkeys(clean_line(warning, MAX_ERROR_CHARS) for warning in verdict.warnings))[:max_warnings]
    summary = f"steps={counts['agent']} errors={len(failures)} warnings={len(warnings)} timed_out={verdict.timed_out}"
    answer = {
        "version": "gsd.web_eval_agent.v1",
        "session_id": evaluation.id,
        "tool_call_id": evaluation.tool_call_id,
        "url": evaluation.url,
        "task": evaluation.task,
        "mode": evaluation.mode,
        "status": verdict.status,
        "stop_reason": verdict.stop_reason,
        "result": remove_images(verdict.result) if verdict.result else verdict.result,
        "findings": [remove_images(finding) for finding in verdict.findings],
        "summary": summary,
        "page": _describe_last_page(evaluation, final_page, records),
        "errors_top": _serialize_worst(evaluation, failures, max_errors),
        "timeouts": evaluation.limits | {"timed_out": verdict.timed_out},
        "warnings": warnings,
        "artifacts": {
            "screenshots": counts["agent_step"],
            "stream_samples": counts["stream_sample"],
            "run_events": counts["total"],
        },
        "next_actions": suggest_next_actions(evaluation.id, has_errors=bool(failures)),
    }
    answer |= {"structured_output": verdict.data} if evaluation.output_schema is not None else {}
    answer |= {"steps": [vars(step) for step in verdict.steps]} if verdict.steps else {}
    return answer | ({"dev_excerpts": _collect_excerpts(evaluation, failures)} if evaluation.mode == "dev" else {})


def suggest_next_actions(session_id: str, *, has_errors: bool) -> list[str]:
    """Return the calls that show more of an evaluation."""
    only_errors = ", has_error=true" if has_errors else ""
    return [
        f"Use get_screenshots(session_id='{session_id}', screenshot_type='agent_step', last_n=5)",
        f"Use get_run_events(session_id='{session_id}', last_n=50{only_errors})",
    ]


def build_result(answer: dict[str, Any]) -> Result:
    """Build the result of `web_eval_agent`: the answer as text and as data."""
    page, artifacts = answer["page"], answer["artifacts"]
    lines = [f"Result: {answer['result'] or '(none)'}"]
    if "structured_output" in answer:
        lines.append(f"Structured output: {json.dumps(answer['structured_output'], ensure_ascii=False)}")
    lines += ["", "Findings:", *(f"- {finding}" for finding in answer["findings"])] if answer.get("findings") else []
    lines += ["", "Summary:", f"- status: {answer['status']} ({answer['stop_reason']})", f"- {answer['summary']}"]
    lines += [f"- page: {page['url']} {page['title']}".rstrip()]
    lines += [f"- warning: {warning}" for warning in answer["warnings"]]
    lines += [f"- {error['type']} error at step {error['step']}: {error['summary']}" for error in answer["errors_top"]]
    for step in answer.get("steps", ()):
        action, problem = clean_line(step["action"], 100), f": {clean_line(step['text'], 200)}"
        line = f"- step {step['step']} {action}: {step['outcome']} ({step['seconds']:g} s)"
        lines.append(line if step["outcome"] == "ok" else line + problem)
    lines += ["", "Artifacts:", f"- session_id: {answer['session_id']}"]
    pictures = f"{artifacts['screenshots']} screenshots, {artifacts['stream_samples']} stream samples"
    lines += [f"- {pictures}, {artifacts['run_events']} events"]
    lines += [f"- {action}" for action in answer["next_actions"]]
    excerpts = answer.get("dev_excerpts", {})
    errors = [*excerpts.get("console_errors", ()), *excerpts.get("network_errors", ())]
    lines += ["", "Console and network errors:"] if errors else []
    lines += [f"- {error['summary']}" for error in errors]
    return Result((TextBlock("\n".join(lines)),), data=answer, is_error=answer["status"] == "failed")


def _describe_last_page(
    evaluation: Evaluation, final_page: FinalPage, records: Sequence[EvaluationRecord]
) -> dict[str, str]:
    """Return address and title of the final page.

    If it could not be read, those of the last step.
    """
    if final_page.url:
        return {"url": final_page.url, "title": final_page.title}
    steps = [record for record in records if record.kind == "agent" and record.url]
    last = max(steps, key=lambda record: record.at, default=None)
    return {"url": last.url, "title": last.details.get("title", "")} if last else {"url": evaluation.url, "title": ""}


def _serialize_worst(evaluation: Evaluation, failures: Sequence[EvaluationRecord], limit: int) -> list[dict[str, Any]]:
    host = urlsplit(evaluation.url).hostname or ""
    return [
        {
            "type": failure.kind,
            "summary": failure.summary[:MAX_ERROR_CHARS],
            "step": failure.step,
            "url": failure.url,
        }
        for failure in rank_failures(failures, host, limit)
    ]


def _collect_excerpts(evaluation: Evaluation, failures: Sequence[EvaluationRecord]) -> dict[str, Any]:
    console = [failure for failure in failures if failure.kind == "console"]
    network = [failure for failure in failures if failure.kind == "network"]
    return {
        "console_errors": _serialize_worst(evaluation, console, 5),
        "network_errors": _serialize_worst(evaluation, network, 5),
        "errors_top": _serialize_worst(evaluation, failures, 10),
    }
