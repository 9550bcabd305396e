"""Execute an agent's tool calls and render their results for the model."""

import json
import logging
import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from outrider.agents.approvals import Questions, build_agent_key
from outrider.agents.events.stream import EventWriter
from outrider.agents.exfiltration_guard import ExfiltrationGuard
from outrider.agents.pictures import collect_pictures, explain_hidden_pictures
from outrider.agents.repetition import RepetitionDetector
from outrider.agents.run import Run
from outrider.agents.steps import RunSteps, ToolStep
from outrider.core.context import Call
from outrider.core.errors import MAX_ERROR_TOKENS, AnswerNeeded, InvalidInput, NotFound, OutriderError, shorten_error
from outrider.core.questions import Question
from outrider.core.result import (
    FILES_META_KEY,
    ImageBlock,
    LinkBlock,
    ResourceBlock,
    Result,
    ResultBlock,
    TextBlock,
)
from outrider.core.text import cut_text
from outrider.core.tool import Tool
from outrider.core.tool_policy import require_consent, resolve_stake
from outrider.core.toolbox import Toolbox
from outrider.core.untrusted import wrap_untrusted

log = logging.getLogger(__name__)
# Appended to the question; the dashboard recognizes these questions by it.
EXFILTRATION_WARNING = " It would send private data that the agent has read to a stranger: check the URL and the data."
REDACTED_VALUE = "(not kept)"  # replaces arguments that may be passwords


class CallPaused(Exception):
    """The call waits for a person; its step holds the state to continue from."""


@dataclass(frozen=True)
class ToolOutput:
    """The result of a call as the model reads it."""

    text: str
    outcome: str = "ok"
    is_handover: bool = False  # the conversation was handed over, so the run is done
    references: Collection[str] = ()  # of its sources
    pictures: Sequence[dict[str, str]] = ()  # each with `mime_type` and base64 `data`


class ToolExecutor:
    """Executes the tool calls of one attempt.

    Args:
        run: The run.
        toolbox: A toolbox restricted to the agent's tools.
        max_parallel_calls: How many calls may run at the same time.

    Attributes:
        citations: Citations of all results by reference.
        files: Files that the calls made, each with `title`: published ones with `id`, others with `path`.
        handed_over: The result of a call that handed the conversation over; empty before.
        sees_pictures: Whether a model of the run sees pictures, so that those of results are kept for it.
    """

    def __init__(
        self,
        run: Run,
        toolbox: Toolbox,
        steps: RunSteps,
        questions: Questions,
        event_writer: EventWriter,
        *,
        max_parallel_calls: int = 8,
    ) -> None:
        self.run = run
        self.toolbox = toolbox
        self.citations: dict[str, dict[str, Any]] = dict(run.citations)
        self.files: list[dict[str, Any]] = list(run.files)
        self.handed_over = ""
        self.sees_pictures = False
        self._steps = steps
        self._questions = questions
        self._event_writer = event_writer
        self._repetitions = RepetitionDetector()
        self._exfiltration_guard: ExfiltrationGuard | None = None
        self._call_slots = anyio.Semaphore(max_parallel_calls)

    async def call(self, name: str, arguments: Mapping[str, Any], call_id: str, number: int) -> ToolOutput:
        """Call a tool, or return the saved result if this call has ended before.

        Returns:
            Text and pictures for the model; the text may describe a failure.

        Raises:
            CallPaused: A person must be asked first.
            RunStopped: The run repeats itself.
            AttemptSuperseded: The attempt no longer belongs to this worker.
        """
        async with self._call_slots:
            tool = self._find_tool(name)
            redacted = _redact_arguments(tool, arguments)
            step = await self._steps.start_step(self.run, call_id, number, name, redacted)
            output = await self._execute_step(tool, name, arguments, step, number)
        self.handed_over = output.text if output.is_handover else self.handed_over
        compared = "".join((output.text, *(picture["data"] for picture in output.pictures)))
        reminder = self._repetitions.check_call(name, redacted, compared, output.references)
        return replace(output, text=output.text + reminder)

    def _find_tool(self, name: str) -> Tool | None:
        try:
            return self.toolbox.get_tool(name)
        except NotFound:
            return None

    async def _execute_step(
        self, tool: Tool | None, name: str, arguments: Mapping[str, Any], step: ToolStep, number: int
    ) -> ToolOutput:
        interrupted_message = (
            "error: the process died during this call, so the call may have taken effect. It was not repeated. "
            "First find out whether it took effect, and repeat it only if it did not."
        )
        if step.has_ended:
            sources = step.result.get("sources", {})
            self._collect_sources(sources, step.result.get("files", []))
            leaves, pictures = step.result.get("leaves", False), step.result.get("pictures", ())
            return ToolOutput(step.result["text"], step.outcome or "ok", leaves, tuple(sources), pictures)
        if tool and not (step.is_new or step.outcome == "asks" or _is_repeatable(tool)):
            result = {"text": interrupted_message, "sources": {}}
            await self._steps.finish_step(self.run, step.key, outcome="interrupted", seconds=0.0, result=result)
            return ToolOutput(interrupted_message, "interrupted")
        event: dict[str, Any] = {"call_id": step.key, "tool": name, "step": number}
        redacted = _truncate_text(json.dumps(_redact_arguments(tool, arguments), ensure_ascii=False, default=str))
        self._event_writer.write("tool_started", event | {"title": tool.title if tool else name, "arguments": redacted})
        started = time.monotonic()
        try:
            output, sources, files = await self._run_tool(name, arguments, step)
        except AnswerNeeded as need:
            await self._ask_person(tool, arguments, step, need, time.monotonic() - started)
            raise CallPaused from need
        seconds = round(time.monotonic() - started, 3)
        await self._steps.finish_step(
            self.run,
            step.key,
            outcome=output.outcome,
            seconds=seconds,
            result={"text": output.text, "sources": sources, "files": files, "leaves": output.is_handover}
            | ({"pictures": list(output.pictures)} if output.pictures else {}),
        )
        self._collect_sources(sources, files)
        event |= {"outcome": output.outcome, "seconds": seconds, "text": _truncate_text(output.text)}
        self._event_writer.write("tool_ended", event | {"sources": list(sources.values())[:20]})
        return output

    def _collect_sources(self, sources: Mapping[str, Any], files: Iterable[dict[str, Any]]) -> None:
        self.citations |= sources
        for file in files:
            self.files = [other for other in self.files if other["title"] != file["title"]] + [file]

    async def _run_tool(
        self, name: str, arguments: Mapping[str, Any], step: ToolStep
    ) -> tuple[ToolOutput, dict[str, Any], list[dict[str, Any]]]:
        decision = await self._questions.find_decision(self.run.id, step.key) if step.outcome == "asks" else None
        reason = f" They said: {decision.reason}" if decision and decision.reason else ""
        try:
            call = await self._check_exfiltration(name, arguments, await self._build_call(name, step, decision))
        except OutriderError as error:
            return ToolOutput(f"{_describe_error(error)}{reason}", error.code), {}, []
        await self._mark_resumed(name, step, call)
        try:
            result = await self.toolbox.call(name, dict(arguments), call)
        except OutriderError as error:
            return ToolOutput(f"{_describe_error(error)}{reason}", error.code), {}, []
        except AnswerNeeded:
            raise
        except Exception:
            incident = uuid.uuid4().hex[:8]
            log.exception("bug %s in tool %s of run %s", incident, name, self.run.id)
            return ToolOutput(f"error: a bug in {name} (incident {incident}); continue without it", "bug"), {}, []
        tool = self.toolbox.get_tool(name)
        is_handover = bool(result.meta.get("outrider/early_exit"))
        hidden = explain_hidden_pictures(result.content, sees_pictures=self.sees_pictures)
        text = result.text if is_handover else _render_result(tool, result, hidden)
        if self._exfiltration_guard is not None:
            self._exfiltration_guard.record_result(tool, text)
        sources = _extract_sources(result)
        pictures = collect_pictures(result.content, hidden)
        output = ToolOutput(text, "error" if result.is_error else "ok", is_handover, tuple(sources), pictures)
        return output, sources, _extract_files(result)

    async def _mark_resumed(self, name: str, step: ToolStep, call: Call) -> None:
        """Mark a paused call as started again.

        It is then not repeated if the process dies during it.
        """
        tool = self._find_tool(name)
        if tool is None or step.outcome != "asks" or _is_repeatable(tool):
            return
        if call.answer is not None or resolve_stake(tool, self.toolbox.policy.stakes) != "high":
            await self._steps.resume_step(self.run, step.key)

    async def _build_call(self, name: str, step: ToolStep, decision: Question | None) -> Call:
        """Return the call with the decision of a person, or with a permanent allowance."""
        call = replace(self.run.build_call(step.key), state=step.state)
        if decision is not None:
            extra = {"answer": decision.answer} if decision.answer is not None else {}
            return replace(call, answer=decision.decision != "rejected", extra=call.extra | extra)
        asks = resolve_stake(self.toolbox.get_tool(name), self.toolbox.policy.stakes) == "high"
        if asks and await self._is_always_allowed(call, name):
            return replace(call, answer=True)
        return call

    async def _check_exfiltration(self, name: str, arguments: Mapping[str, Any], call: Call) -> Call:
        """Return the call if it leaks no private data or a person has allowed it.

        Raises AnswerNeeded, and Refused if the person has rejected it.
        """
        tool = self._find_tool(name)
        if tool is None or not tool.open_world:
            return call
        if self._exfiltration_guard is None:
            # The guard must know everything that the run has read, including earlier attempts.
            guard = ExfiltrationGuard(self.run.query)
            for file in self.run.state.get("given", []):
                guard.record_result(None, file.get("content", ""))
            for row in await self._steps.list_steps(self.run.id):
                if row["kind"] == "tool" and row["result"]:
                    guard.record_result(self._find_tool(row["tool"]), str(row["result"].get("text", "")))
            self._exfiltration_guard = guard
        if not self._exfiltration_guard.would_leak(tool, arguments):
            return call
        if call.answer is None and await self._is_always_allowed(call, name):
            return replace(call, answer=True)
        require_consent(tool, {name: "high"}, call, arguments, why=EXFILTRATION_WARNING)
        return call

    async def _is_always_allowed(self, call: Call, tool: str) -> bool:
        key = build_agent_key(self.run.agent, self.run.definition)
        return await self._questions.is_always_allowed(call, key, tool)

    async def _ask_person(
        self, tool: Tool | None, arguments: Mapping[str, Any], step: ToolStep, need: AnswerNeeded, seconds: float
    ) -> None:
        """Save the question of a call, and pause the step.

        A run below may have saved the question already.
        """
        assert tool is not None
        if not need.questions:
            question = await self._questions.ask(
                self.run,
                step.key,
                kind=need.kind,
                tool=tool,
                arguments=arguments,
                stake="high" if need.kind == "approval" else None,
                message=str(need.question),
                details=need.details,
            )
            event = {"id": question.id, "call_id": step.key, "tool": tool.name, "message": question.message}
            self._event_writer.write("question", event | {"kind": question.kind})
        await self._steps.finish_step(self.run, step.key, outcome="asks", seconds=seconds, state=need.state)


def _is_repeatable(tool: Tool) -> bool:
    """Return whether a call that may have taken effect can safely be repeated."""
    # run_agent recognizes a repeated call by its id.
    return tool.effect == "read" or tool.toolset == "run_agent" or getattr(tool, "idempotent", False)


def _redact_arguments(tool: Tool | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: REDACTED_VALUE if tool and tool.is_private(name) else value for name, value in arguments.items()}


def _describe_error(error: OutriderError) -> str:
    label_tokens = 25  # of the text around message and hint
    error = shorten_error(error, MAX_ERROR_TOKENS - label_tokens)
    hint = f"\nwhat to do: {error.hint}" if error.hint else ""
    retry = "\nthe same call may work later" if error.retryable and not isinstance(error, InvalidInput) else ""
    return f"error ({error.code}): {error.message}{hint}{retry}"


def _render_result(tool: Tool, result: Result, hidden_pictures: Mapping[int, str]) -> str:
    """Return the text of a result for the model; text of untrusted tools is wrapped in marks."""
    max_chars = 40_000
    blocks = [_render_block(block, hidden_pictures.get(index, "")) for index, block in enumerate(result.content)]
    text = "\n\n".join(blocks) or json.dumps(result.data, ensure_ascii=False, default=str)
    piece = cut_text(text, max_chars)
    if piece.truncated:
        text = f"{piece.text}\n[cut: {piece.total:,} characters in total; ask for less, or for the rest]"
    # Wrap the text even if it contains such marks already, because anyone can write them.
    return wrap_untrusted(text, tool.name) if tool.untrusted else text


def _render_block(item: ResultBlock, hidden: str) -> str:
    """Return a block as text; a source also shows its reference, and a picture why it is hidden, if it is."""
    match item:
        case TextBlock():
            return item.text
        case ImageBlock():
            return f"[picture not shown: {hidden}]" if hidden else "[picture: shown after this text]"
        case LinkBlock():
            return f"[{item.name}] <{item.uri}> {item.mime_type}".rstrip()
    if item.fields.get("fileId"):
        return f"{item.text}: {item.fields.get('title')} (id {item.fields['fileId']})"
    reference = item.fields.get("reference")
    return f"[{reference}] {item.fields.get('title') or ''} <{item.uri}>\n{item.text}" if reference else item.text


def _extract_sources(result: Result) -> dict[str, dict[str, Any]]:
    """Return the citations of a result by reference."""
    sources = {}
    for item in result.content:
        reference = item.fields.get("reference") if isinstance(item, ResourceBlock) else None
        if isinstance(item, ResourceBlock) and isinstance(reference, str) and reference:
            title = str(item.fields.get("title") or item.uri)
            source = {"provider": "webcrawler", "title": title, "href": item.uri, "contentType": "text/html"}
            sources[reference] = source
    if isinstance(result.meta.get("outrider/refs"), dict):
        sources |= result.meta["outrider/refs"]
    return sources


def _extract_files(result: Result) -> list[dict[str, Any]]:
    """Return the files that a call made.

    Files of agents below are passed on; files written to the workspace are added.
    """
    files = [
        {
            "id": item.fields["fileId"],
            "title": item.fields.get("title", ""),
            "content_type": item.fields.get("contentType", ""),
            "uri": item.uri,
        }
        for item in result.content
        if isinstance(item, ResourceBlock) and item.fields.get("fileId")
    ]
    return files + [file | {"title": file["path"]} for file in result.meta.get(FILES_META_KEY, ())]


def _truncate_text(text: str) -> str:
    max_chars = 400  # events repeat only the beginning of arguments and results
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"
