"""What comes back from an agent: its answer with citations and files, or why there is none (yet)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from outrider.agents.citations import CitedText
from outrider.agents.limits import RunUsage
from outrider.agents.run import Run
from outrider.core.approval_required import PAUSE_MIME_SUFFIX
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable
from outrider.core.questions import Question
from outrider.core.result import ResourceBlock, Result, ResultBlock, TextBlock
from outrider.toolsets.pictures import remove_images

RUN_META_KEY = "outrider/run"
REFS_META_KEY = "outrider/refs"
CONVERSATION_URI_PREFIX = "outrider://conversations/"
STOP_EXPLANATIONS = {
    "steps": "it had used all its steps",
    "tokens": "it had used all its tokens",
    "cost": "it had used all its money",
    "time": "its time was over",
    "repetition": "it went in circles",
    "length": "the model's answer was cut at its longest",
    "nonsense": "the model's answers made no sense",
}
ERROR_TYPES: dict[str, type[OutriderError]] = {
    each.kind: each for each in (InvalidInput, NotConfigured, NotFound, Refused, Unavailable)
}


def build_conversation_uri(run: Run) -> str:
    """Where the run's conversation is found."""
    return CONVERSATION_URI_PREFIX + run.conversation_id


def serialize_run(run: Run, usage: RunUsage) -> dict[str, Any]:
    """What programs want to know of a run: ids, status, and the usage and cost of the whole tree."""
    return {
        "runId": run.id,
        "conversationId": run.conversation_id,
        "agent": run.agent,
        "status": "running" if run.status in ("queued", "running") else run.status,
        "stopReason": run.stop_reason,
        "usage": usage.to_dict(),
    }


def build_answer_result(run: Run, cited: CitedText, usage: RunUsage, mime_prefix: str) -> Result:
    """The answer of a run that came to an end, complete or not, and the files that it made."""
    about = serialize_run(run, usage)
    shown = {name: about[name] for name in ("runId", "status", "usage")}
    optional = {
        "chainOfThought": run.thoughts.strip(),
        "refs": cited.refs,
        "stopReason": run.stop_reason if run.status == "partial" else "",
    }
    fields = {"conversationId": run.conversation_id} | {key: value for key, value in optional.items() if value} | shown
    text = remove_images(cited.text.strip())
    if run.status == "partial":
        text = f"{text}\n\n[This answer is not complete: {_explain_stop(run)}. {_suggest_next(run)}]".strip()
    items: list[ResultBlock] = [
        ResourceBlock(build_conversation_uri(run), f"{mime_prefix}.tool-output.run-agent-result", text, fields)
    ]
    items += [_build_file_resource(run, each, mime_prefix) for each in run.files if not each.get("hidden")]
    return Result(tuple(items), meta={RUN_META_KEY: about} | ({REFS_META_KEY: cited.refs} if cited.refs else {}))


def build_pending_result(run: Run, usage: RunUsage, *, asked: bool) -> Result:
    """The answer for a caller who does not wait any longer (or never wanted to): how to come back."""
    lead = f"Agent {run.agent} is at work" if asked else f"Agent {run.agent} is still at work and goes on by itself"
    text = (
        f"{lead} (runId {run.id}, conversationId {run.conversation_id}). "
        f'Get its answer later with agent_run {{"runId": "{run.id}"}}; cancel_agent_run ends it.'
    )
    return Result((TextBlock(text),), meta={RUN_META_KEY: serialize_run(run, usage)})


def build_handoff_result(run: Run, mime_prefix: str) -> Result:
    """The end of the caller's own work: the other agent answers in the conversation."""
    early_exit_key = "outrider/early_exit"
    text = (
        f"Handed over to @{run.agent}, who answers in conversation {run.conversation_id} (runId {run.id}). "
        "Your part is done: stop here."
    )
    fields = {"type": "tool_early_exit", "isError": False, "conversationId": run.conversation_id, "runId": run.id}
    item = ResourceBlock(build_conversation_uri(run), f"{mime_prefix}.tool-output.{PAUSE_MIME_SUFFIX}", text, fields)
    return Result((item,), meta={early_exit_key: True})


def add_overruled_note(result: Result, questions: Sequence[Question]) -> Result:
    """The result, which says which of the caller's answers came too late, and whose stand."""
    overruled_key = "outrider/overruled"
    if not questions:
        return result
    lines = [
        f"- {each.title} for {each.agent}: {each.decision} by {each.decided_by or 'somebody'}" for each in questions
    ]
    note = TextBlock("\n".join(("Somebody else had answered before, and that stands:", *lines)))
    facts = [{"id": each.id, "decision": each.decision, "by": each.decided_by} for each in questions]
    return replace(result, content=(*result.content, note), meta={**result.meta, overruled_key: facts})


def build_run_error(run: Run, usage: RunUsage) -> OutriderError:
    """Why there is no answer."""
    details = serialize_run(run, usage)
    if run.status == "cancelled":
        return Refused(
            f"the run of agent {run.agent!r} was cancelled",
            code="cancelled",
            hint="do not repeat the call unless the user asks for it",
            details=details,
        )
    error: Mapping[str, Any] = run.error or {}
    message = error.get("message") or _explain_stop(run)
    kind = ERROR_TYPES.get(str(error.get("kind")), Unavailable)
    return kind(
        f"agent {run.agent!r} failed: {message}",
        code=str(error.get("code") or "agent_failed"),
        hint=str(error.get("hint") or _suggest_next(run)),
        details=details | ({"partial": run.answer[:4_000]} if run.answer else {}),
        retry_after=error.get("retry_after"),
    )


def _explain_stop(run: Run) -> str:
    return STOP_EXPLANATIONS.get(run.stop_reason or "", f"it stopped ({run.stop_reason or 'without a word'})")


def _suggest_next(run: Run) -> str:
    return f"Ask for less, or let it go on with conversationId {run.conversation_id}"


def _build_file_resource(run: Run, file: Mapping[str, Any], mime_prefix: str) -> ResourceBlock:
    fields = {
        "fileId": file["id"],
        "title": file.get("title") or file["id"],
        "contentType": file.get("content_type") or "application/octet-stream",
        "snippet": file.get("snippet"),
    }
    place = str(file.get("uri") or build_conversation_uri(run))
    return ResourceBlock(place, f"{mime_prefix}.tool-output.file", "File generated by a sub-agent", fields)
