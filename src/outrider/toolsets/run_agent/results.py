"""Build the results of agent runs: answers, pending runs, hand-overs and errors."""

import re
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

RUN_META_KEY = "outrider/run"
REFS_META_KEY = "outrider/refs"
CONVERSATION_URI_PREFIX = "outrider://conversations/"
# A fenced code block (spec.commonmark.org, 4.5), which hosts show unchanged. Everything else is text.
CODE_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^`\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
IMAGE_MARK = re.compile(r"!+(?=\[)")
LOADING_TAGS = (
    "img|image|picture|source|video|audio|iframe|object|embed|svg|link|style|script|input|meta|base|body|table|td"
)
LOADING_TAG = re.compile(rf"<(?=(?:{LOADING_TAGS})\b|[a-z][\w-]*[\s/][^<>]*=[^<>]*//[^<>]*>)", re.IGNORECASE)


def remove_images(text: str) -> str:
    """Turn Markdown pictures into links, and escape HTML tags that would load something.

    A host that shows a picture sends its address, and any data in it, to a foreign server without a click. An agent
    that obeys a hostile page could leak data this way.
    """
    parts, end = [], 0
    for fence in CODE_FENCE.finditer(text):
        parts += [_disarm_text(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join((*parts, _disarm_text(text[end:])))


def _disarm_text(text: str) -> str:
    return LOADING_TAG.sub("&lt;", IMAGE_MARK.sub("", text))


def build_conversation_uri(run: Run) -> str:
    """Return the resource address of the run's conversation."""
    return CONVERSATION_URI_PREFIX + run.conversation_id


def serialize_run(run: Run, usage: RunUsage) -> dict[str, Any]:
    """Return the run for programs: ids, status, and usage and cost of the whole tree."""
    return {
        "runId": run.id,
        "conversationId": run.conversation_id,
        "agent": run.agent,
        "status": "running" if run.status in ("queued", "running") else run.status,
        "stopReason": run.stop_reason,
        "usage": usage.to_dict(),
    }


def build_answer_result(run: Run, cited: CitedText, usage: RunUsage, mime_prefix: str) -> Result:
    """Build the answer of an ended run, with its files."""
    summary = serialize_run(run, usage)
    optional = {
        "chainOfThought": run.thoughts.strip(),
        "refs": cited.refs,
        "stopReason": run.stop_reason if run.status == "partial" else "",
    }
    fields = {"conversationId": run.conversation_id} | {key: value for key, value in optional.items() if value}
    fields |= {name: summary[name] for name in ("runId", "status", "usage")}
    text = remove_images(cited.text.strip())
    if run.status == "partial":
        text = f"{text}\n\n[This answer is not complete: {_explain_stop(run)}. {_suggest_next(run)}]".strip()
    items: list[ResultBlock] = [
        ResourceBlock(build_conversation_uri(run), f"{mime_prefix}.tool-output.run-agent-result", text, fields)
    ]
    visible_files = [file for file in run.files if not file.get("hidden")]
    items += [_build_file_resource(run, file, mime_prefix) for file in visible_files if "id" in file]
    if more := [file["path"] for file in visible_files if "id" not in file]:
        items.append(TextBlock(f"More files are in the workspace: {', '.join(more[:100])}"))
    return Result(tuple(items), meta={RUN_META_KEY: summary} | ({REFS_META_KEY: cited.refs} if cited.refs else {}))


def build_pending_result(run: Run, usage: RunUsage, *, waited: bool) -> Result:
    """Build the result for a call that returns before its run has ended; `waited`: it waited without an answer."""
    state = "is still working in the background" if waited else "is working in the background"
    used = f" So far it has used {usage.describe()}." if usage.requests else ""
    text = (
        f"Agent {run.agent} {state} (runId {run.id}, conversationId {run.conversation_id}).{used} "
        f'Get its answer later with agent_run {{"runId": "{run.id}"}}; cancel_agent_run ends it.'
    )
    return Result((TextBlock(text),), meta={RUN_META_KEY: serialize_run(run, usage)})


def build_handoff_result(run: Run, mime_prefix: str) -> Result:
    """Build the result that ends the caller's own part: the other agent answers in the conversation."""
    text = (
        f"Handed over to @{run.agent}, which answers in conversation {run.conversation_id} (runId {run.id}). "
        "Your part is done: stop here."
    )
    fields = {"type": "tool_early_exit", "isError": False, "conversationId": run.conversation_id, "runId": run.id}
    item = ResourceBlock(build_conversation_uri(run), f"{mime_prefix}.tool-output.{PAUSE_MIME_SUFFIX}", text, fields)
    return Result((item,), meta={"outrider/early_exit": True})


def add_overruled_note(result: Result, questions: Sequence[Question]) -> Result:
    """Add a note on late answers and the decisions that count."""
    if not questions:
        return result
    lines = ["Other people answered these questions first, and their decisions apply:"]
    lines += [
        f"- {question.title} for {question.agent}: {question.decision} by {question.decided_by or 'someone'}"
        for question in questions
    ]
    overruled = [
        {"id": question.id, "decision": question.decision, "by": question.decided_by} for question in questions
    ]
    note = TextBlock("\n".join(lines))
    return replace(result, content=(*result.content, note), meta={**result.meta, "outrider/overruled": overruled})


def build_run_error(run: Run, usage: RunUsage) -> OutriderError:
    """Build the error of a run that failed or was cancelled, of the kind that ended it."""
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
    error_types = {kind.kind: kind for kind in (InvalidInput, NotConfigured, NotFound, Refused)}
    error_type = error_types.get(str(error.get("kind")), Unavailable)
    return error_type(
        f"agent {run.agent!r} failed: {message}",
        code=str(error.get("code") or "agent_failed"),
        hint=str(error.get("hint") or _suggest_next(run)),
        details=details | ({"partial": run.answer[:4_000]} if run.answer else {}),
        retry_after=error.get("retry_after"),
    )


def _explain_stop(run: Run) -> str:
    explanations = {
        "steps": "it has used all its steps",
        "tokens": "it has used all its tokens",
        "cost": "it has used its cost budget",
        "time": "its time is up",
        "repetition": "it repeated the same calls",
        "length": "the model's answer reached its maximum length",
        "nonsense": "the model's answers made no sense",
    }
    return explanations.get(run.stop_reason or "", f"it stopped ({run.stop_reason or 'no reason given'})")


def _suggest_next(run: Run) -> str:
    return f"Ask for less, or continue it with conversationId {run.conversation_id}"


def _build_file_resource(run: Run, file: Mapping[str, Any], mime_prefix: str) -> ResourceBlock:
    fields = {
        "fileId": file["id"],
        "title": file.get("title") or file["id"],
        "contentType": file.get("content_type") or "application/octet-stream",
        "snippet": file.get("snippet"),
    }
    uri = str(file.get("uri") or build_conversation_uri(run))
    return ResourceBlock(uri, f"{mime_prefix}.tool-output.file", "File generated by a sub-agent", fields)
