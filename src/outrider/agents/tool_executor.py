"""An agent's tools: how it calls them, and what it gets to read of them."""

import json
import logging
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio

from outrider.agents.approvals import Questions
from outrider.agents.events.stream import EventWriter
from outrider.agents.exfiltration_guard import ExfiltrationGuard
from outrider.agents.limits import RepetitionDetector
from outrider.agents.run import Run
from outrider.agents.steps import RunSteps, ToolStep
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound, OutriderError
from outrider.core.questions import Question
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, ResultBlock, TextBlock
from outrider.core.text import cut_text
from outrider.core.tool import Tool
from outrider.core.tool_policy import require_consent, resolve_stake
from outrider.core.toolbox import Toolbox
from outrider.core.untrusted import wrap_untrusted

log = logging.getLogger(__name__)
REDACTED_VALUE = "(not kept)"  # stands for arguments that may be passwords
EXFILTRATION_WARNING = (
    " It would tell a stranger what the agent has read in private: look at the address and at what is sent."
)


class CallPaused(Exception):
    """The call waits for a person; its step remembers how to go on."""


@dataclass(frozen=True)
class ToolOutput:
    """What the model gets of a call: the text, and pictures as (bytes, mime type)."""

    text: str
    outcome: str = "ok"
    is_handover: bool = False  # the conversation was handed over: the run's part is done


class ToolExecutor:
    """Makes one attempt's tool calls.

    Args:
        run: Whose calls they are.
        toolbox: Restricted to the agent's tools.
        max_parallel_calls: How many calls may be under way at the same time.
    """

    def __init__(
        self,
        run: Run,
        toolbox: Toolbox,
        steps: RunSteps,
        questions: Questions,
        event_writer: EventWriter,
        *,
        max_parallel_calls: int,
    ) -> None:
        self.run = run
        self.toolbox = toolbox
        self.citations: dict[str, dict[str, Any]] = dict(run.citations)
        self.files: list[dict[str, Any]] = list(run.files)
        self.handed_over = ""
        self._steps = steps
        self._questions = questions
        self._event_writer = event_writer
        self._repetitions = RepetitionDetector()
        self._exfiltration_guard: ExfiltrationGuard | None = None
        self._call_slots = anyio.Semaphore(max_parallel_calls)

    async def call(self, name: str, arguments: Mapping[str, Any], call_id: str, number: int) -> str:
        """Calls a tool, unless this very call has ended before: then its result from before.

        Returns:
            What the model is to read, failures included.

        Raises:
            Waits: A person must be asked first.
            Stopped: The run goes in circles.
            Superseded: The attempt is no longer ours.
        """
        async with self._call_slots:
            tool = self._find_tool(name)
            kept = _redact_arguments(tool, arguments)
            step = await self._steps.start_step(self.run, call_id, number, name, kept)
            reading = await self._execute_step(tool, name, arguments, step, number)
        self.handed_over = reading.text if reading.is_handover else self.handed_over
        return reading.text + self._repetitions.check_call(name, kept, reading.text)

    def _find_tool(self, name: str) -> Tool | None:
        try:
            return self.toolbox.get_tool(name)
        except NotFound:
            return None

    async def _execute_step(
        self, tool: Tool | None, name: str, arguments: Mapping[str, Any], step: ToolStep, number: int
    ) -> ToolOutput:
        unsure_message = (
            "error: this call was begun, but the process died before it was known to end, so it may have taken effect. "
            "It was not made again. Find out first whether it did, and call again only if it did not."
        )
        if step.has_ended:
            return self._again(step)
        if tool and not (step.is_new or step.outcome == "asks" or _is_repeatable(tool)):
            await self._steps.finish_step(
                self.run, step.key, outcome="interrupted", seconds=0.0, result={"text": unsure_message, "sources": {}}
            )
            return ToolOutput(unsure_message, "interrupted")
        told = {"call_id": step.key, "tool": name, "step": number}
        shown = _truncate_text(json.dumps(_redact_arguments(tool, arguments), ensure_ascii=False, default=str))
        title = tool.title if tool else name
        self._event_writer.write("tool_started", told | {"title": title, "arguments": shown})
        started = time.monotonic()
        try:
            reading, sources, files = await self._run_tool(name, arguments, step)
        except AnswerNeeded as need:
            await self._ask_person(tool, arguments, step, need, time.monotonic() - started)
            raise CallPaused from need
        seconds = round(time.monotonic() - started, 3)
        await self._steps.finish_step(
            self.run,
            step.key,
            outcome=reading.outcome,
            seconds=seconds,
            result={"text": reading.text, "sources": sources, "files": files, "leaves": reading.is_handover},
        )
        self._collect_sources(sources, files)
        ended = {"outcome": reading.outcome, "seconds": seconds, "text": _truncate_text(reading.text)}
        self._event_writer.write("tool_ended", told | ended | {"sources": list(sources.values())[:20]})
        return reading

    def _again(self, step: ToolStep) -> ToolOutput:
        self._collect_sources(step.result.get("sources", {}), step.result.get("files", []))
        return ToolOutput(step.result["text"], step.outcome or "ok", step.result.get("leaves", False))

    def _collect_sources(self, sources: Mapping[str, Any], files: Iterable[dict[str, Any]]) -> None:
        self.citations |= sources
        self.files += [each for each in files if each not in self.files]

    async def _run_tool(
        self, name: str, arguments: Mapping[str, Any], step: ToolStep
    ) -> tuple[ToolOutput, dict[str, Any], list[dict[str, Any]]]:
        decided = await self._questions.find_decision(self.run.id, step.key) if step.outcome == "asks" else None
        reason = f" They said: {decided.reason}" if decided and decided.reason else ""
        try:
            call = await self._check_exfiltration(name, arguments, await self._build_call(name, step, decided))
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
            return ToolOutput(f"error: a bug in {name} (incident {incident}); go on without it", "bug"), {}, []
        tool = self.toolbox.get_tool(name)
        leaves = bool(result.meta.get("outrider/early_exit"))
        text = result.text if leaves else _render_result(tool, result)
        if self._exfiltration_guard is not None:
            self._exfiltration_guard.record_result(tool, text)
        reading = ToolOutput(text, "error" if result.is_error else "ok", leaves)
        return reading, _extract_sources(result), _extract_files(result)

    async def _mark_resumed(self, name: str, step: ToolStep, call: Call) -> None:
        """What waited for a person and is made now has begun: it is not made again if the process dies meanwhile."""
        tool = self._find_tool(name)
        if tool is None or step.outcome != "asks" or _is_repeatable(tool):
            return
        if call.answer is not None or resolve_stake(tool, self.toolbox.policy.stakes) != "high":
            await self._steps.resume_step(self.run, step.key)

    async def _build_call(self, name: str, step: ToolStep, decided: Question | None) -> Call:
        call = replace(self.run.build_call(step.key), state=step.state)
        if decided is not None:
            answered = decided.decision != "rejected"
            extra = {"answer": decided.answer} if decided.answer is not None else {}
            return replace(call, answer=answered, extra=call.extra | extra)
        asks = resolve_stake(self.toolbox.get_tool(name), self.toolbox.policy.stakes) == "high"
        if asks and await self._questions.is_always_allowed(call, self.run.agent, name):
            return replace(call, answer=True)
        return call

    async def _check_exfiltration(self, name: str, arguments: Mapping[str, Any], call: Call) -> Call:
        """The call, if it tells nobody what is private, or a person has allowed that. Raises AnswerNeeded, Refused."""
        tool = self._find_tool(name)
        if (
            tool is None
            or not tool.open_world
            or not (await self._load_exfiltration_guard()).would_leak(tool, arguments)
        ):
            return call
        if call.answer is None and await self._questions.is_always_allowed(call, self.run.agent, name):
            return replace(call, answer=True)
        require_consent(tool, {name: "high"}, call, arguments, why=EXFILTRATION_WARNING)
        return call

    async def _load_exfiltration_guard(self) -> ExfiltrationGuard:
        """What the run has read, in other attempts and processes, too."""
        if self._exfiltration_guard is None:
            secrecy = ExfiltrationGuard(self.run.query)
            for row in await self._steps.list_steps(self.run.id):
                if row["kind"] == "tool" and row["result"]:
                    secrecy.record_result(self._find_tool(row["tool"]), str(row["result"].get("text", "")))
            self._exfiltration_guard = secrecy
        return self._exfiltration_guard

    async def _ask_person(
        self, tool: Tool | None, arguments: Mapping[str, Any], step: ToolStep, need: AnswerNeeded, seconds: float
    ) -> None:
        """Writes the question down, unless runs below have: then the step only remembers which."""
        assert tool is not None
        if not need.questions:
            asked = await self._questions.ask(
                self.run,
                step.key,
                kind=need.kind,
                tool=tool,
                arguments=arguments,
                stake="high" if need.kind == "approval" else None,
                message=str(need.question),
                details=need.details,
            )
            told = {"id": asked.id, "call_id": step.key, "tool": tool.name, "message": asked.message}
            self._event_writer.write("question", told | {"kind": asked.kind})
        await self._steps.finish_step(self.run, step.key, outcome="asks", seconds=seconds, state=need.state)


def _is_repeatable(tool: Tool) -> bool:
    """Whether a call that may have taken effect can be made again: reading, and what knows its own repetitions."""
    return tool.effect == "read" or tool.toolset == "run_agent" or getattr(tool, "idempotent", False)


def _redact_arguments(tool: Tool | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    private = tool.private if tool else frozenset()
    return {name: REDACTED_VALUE if name in private else value for name, value in arguments.items()}


def _describe_error(error: OutriderError) -> str:
    hint = f"\nwhat to do: {error.hint}" if error.hint else ""
    again = "\nthe same call may work later" if error.retryable and not isinstance(error, InvalidInput) else ""
    return f"error ({error.code}): {error.message}{hint}{again}"


def _render_result(tool: Tool, result: Result) -> str:
    """What can be read of a result, marked where other people wrote it."""
    max_chars = 40_000  # of one tool's result that a model gets to read
    said = [_render_item(item) for item in result.content]
    text = "\n\n".join(said) or json.dumps(result.data, ensure_ascii=False, default=str)
    piece = cut_text(text, max_chars)
    if piece.truncated:
        text = f"{piece.text}\n[cut: {piece.total:,} characters in all; ask for less, or for the rest]"
    # Marks that stand in it already are no reason to trust the rest: a stranger can write them, too.
    return wrap_untrusted(text, tool.name) if tool.untrusted else text


def _render_item(item: ResultBlock) -> str:
    """An item in words: text, of a source also the reference to cite it by, and of what is no text what it is."""
    match item:
        case TextBlock():
            return item.text
        case ImageBlock():
            return f"[picture, {item.mime_type}, {len(item.data):,} bytes: not shown]"
        case LinkBlock():
            return f"[{item.name}] <{item.uri}> {item.mime_type}".rstrip()
    reference = item.fields.get("reference")
    return f"[{reference}] {item.fields.get('title') or ''} <{item.uri}>\n{item.text}" if reference else item.text


def _extract_sources(result: Result) -> dict[str, dict[str, Any]]:
    """Citation references that the result hands out, each with what it stands for."""
    found = {}
    for item in result.content:
        reference = item.fields.get("reference") if isinstance(item, ResourceBlock) else None
        if isinstance(item, ResourceBlock) and isinstance(reference, str) and reference:
            title = str(item.fields.get("title") or item.uri)
            found[reference] = {"provider": "webcrawler", "title": title, "href": item.uri, "contentType": "text/html"}
    if isinstance(result.meta.get("outrider/refs"), dict):
        found |= result.meta["outrider/refs"]
    return found


def _extract_files(result: Result) -> list[dict[str, Any]]:
    """Files that the result names: resources with a file's id."""
    return [
        {
            "id": item.fields["fileId"],
            "title": item.fields.get("title", ""),
            "content_type": item.fields.get("contentType", ""),
            "uri": item.uri,
        }
        for item in result.content
        if isinstance(item, ResourceBlock) and item.fields.get("fileId")
    ]


def _truncate_text(text: str) -> str:
    max_chars = 400  # characters of arguments and results that an event repeats
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"
