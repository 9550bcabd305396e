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
from outrider.agents.events.stream import Pen
from outrider.agents.limits import Circles
from outrider.agents.run import Run
from outrider.agents.secrecy import Secrecy
from outrider.agents.steps import Step, Steps
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound, OutriderError
from outrider.core.policy import consent, stake_of
from outrider.core.questions import Question
from outrider.core.result import Image, Item, Link, Resource, Result, Text
from outrider.core.text import cut
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.core.untrusted import wrap

log = logging.getLogger(__name__)
NOT_KEPT = "(not kept)"  # stands for arguments that may be passwords
RESULT_CHARS = 40_000  # of one tool's result that a model gets to read
SHOWN = 400  # characters of arguments and results that an event repeats
TELLS = " It would tell a stranger what the agent has read in private: look at the address and at what is sent."
UNSURE = (
    "error: this call was begun, but the process died before it was known to end, so it may have taken effect. "
    "It was not made again. Find out first whether it did, and call again only if it did not."
)


class Waits(Exception):
    """The call waits for a person; its step remembers how to go on."""


@dataclass(frozen=True)
class Reading:
    """What the model gets of a call: the text, and pictures as (bytes, mime type)."""

    text: str
    outcome: str = "ok"
    leaves: bool = False  # the conversation was handed over: the run's part is done


class Hands:
    """Makes one attempt's tool calls.

    Args:
        run: Whose calls they are.
        toolbox: Restricted to the agent's tools.
        width: How many calls may be under way at the same time.
    """

    def __init__(self, run: Run, toolbox: Toolbox, steps: Steps, questions: Questions, pen: Pen, *, width: int) -> None:
        self.run = run
        self.toolbox = toolbox
        self.citations: dict[str, dict[str, Any]] = dict(run.citations)
        self.files: list[dict[str, Any]] = list(run.files)
        self.handed_over = ""
        self._steps = steps
        self._questions = questions
        self._pen = pen
        self._circles = Circles()
        self._secrecy: Secrecy | None = None
        self._width = anyio.Semaphore(width)

    async def call(self, name: str, arguments: Mapping[str, Any], call_id: str, number: int) -> str:
        """Calls a tool, unless this very call has ended before: then its result from before.

        Returns:
            What the model is to read, failures included.

        Raises:
            Waits: A person must be asked first.
            Stopped: The run goes in circles.
            Superseded: The attempt is no longer ours.
        """
        async with self._width:
            tool = self._find(name)
            kept = _kept(tool, arguments)
            step = await self._steps.begin(self.run, call_id, number, name, kept)
            reading = await self._once(tool, name, arguments, step, number)
        self.handed_over = reading.text if reading.leaves else self.handed_over
        return reading.text + self._circles.note(name, kept, reading.text)

    def _find(self, name: str) -> Tool | None:
        try:
            return self.toolbox.get(name)
        except NotFound:
            return None

    async def _once(
        self, tool: Tool | None, name: str, arguments: Mapping[str, Any], step: Step, number: int
    ) -> Reading:
        if step.ended:
            return self._again(step)
        if tool and not (step.fresh or step.outcome == "asks" or _repeatable(tool)):
            await self._steps.end(
                self.run, step.key, outcome="interrupted", seconds=0.0, result={"text": UNSURE, "sources": {}}
            )
            return Reading(UNSURE, "interrupted")
        told = {"call_id": step.key, "tool": name, "step": number}
        shown = _short(json.dumps(_kept(tool, arguments), ensure_ascii=False, default=str))
        title = tool.title if tool else name
        self._pen.write("tool_started", told | {"title": title, "arguments": shown})
        started = time.monotonic()
        try:
            reading, sources, files = await self._read(name, arguments, step)
        except AnswerNeeded as need:
            await self._ask(tool, arguments, step, need, time.monotonic() - started)
            raise Waits from need
        seconds = round(time.monotonic() - started, 3)
        await self._steps.end(
            self.run,
            step.key,
            outcome=reading.outcome,
            seconds=seconds,
            result={"text": reading.text, "sources": sources, "files": files, "leaves": reading.leaves},
        )
        self._keep(sources, files)
        ended = {"outcome": reading.outcome, "seconds": seconds, "text": _short(reading.text)}
        self._pen.write("tool_ended", told | ended | {"sources": list(sources.values())[:20]})
        return reading

    def _again(self, step: Step) -> Reading:
        self._keep(step.result.get("sources", {}), step.result.get("files", []))
        return Reading(step.result["text"], step.outcome or "ok", step.result.get("leaves", False))

    def _keep(self, sources: Mapping[str, Any], files: Iterable[dict[str, Any]]) -> None:
        self.citations |= sources
        self.files += [each for each in files if each not in self.files]

    async def _read(
        self, name: str, arguments: Mapping[str, Any], step: Step
    ) -> tuple[Reading, dict[str, Any], list[dict[str, Any]]]:
        decided = await self._questions.decided(self.run.id, step.key) if step.outcome == "asks" else None
        reason = f" They said: {decided.reason}" if decided and decided.reason else ""
        try:
            call = await self._discreet(name, arguments, await self._call_of(name, step, decided))
        except OutriderError as error:
            return Reading(f"{_told(error)}{reason}", error.code), {}, []
        await self._resumed(name, step, call)
        try:
            result = await self.toolbox.call(name, dict(arguments), call)
        except OutriderError as error:
            return Reading(f"{_told(error)}{reason}", error.code), {}, []
        except AnswerNeeded:
            raise
        except Exception:
            incident = uuid.uuid4().hex[:8]
            log.exception("bug %s in tool %s of run %s", incident, name, self.run.id)
            return Reading(f"error: a bug in {name} (incident {incident}); go on without it", "bug"), {}, []
        tool = self.toolbox.get(name)
        leaves = bool(result.meta.get("outrider/early_exit"))
        text = result.text if leaves else _text(tool, result)
        if self._secrecy is not None:
            self._secrecy.read(tool, text)
        reading = Reading(text, "error" if result.is_error else "ok", leaves)
        return reading, _sources(result), _files(result)

    async def _resumed(self, name: str, step: Step, call: Call) -> None:
        """What waited for a person and is made now has begun: it is not made again if the process dies meanwhile."""
        tool = self._find(name)
        if tool is None or step.outcome != "asks" or _repeatable(tool):
            return
        if call.answer is not None or stake_of(tool, self.toolbox.policy.stakes) != "high":
            await self._steps.resume(self.run, step.key)

    async def _call_of(self, name: str, step: Step, decided: Question | None) -> Call:
        call = replace(self.run.call(step.key), state=step.state)
        if decided is not None:
            answered = decided.decision != "rejected"
            extra = {"answer": decided.answer} if decided.answer is not None else {}
            return replace(call, answer=answered, extra=call.extra | extra)
        asks = stake_of(self.toolbox.get(name), self.toolbox.policy.stakes) == "high"
        if asks and await self._questions.allowed_always(call, self.run.agent, name):
            return replace(call, answer=True)
        return call

    async def _discreet(self, name: str, arguments: Mapping[str, Any], call: Call) -> Call:
        """The call, if it tells nobody what is private, or a person has allowed that. Raises AnswerNeeded, Refused."""
        tool = self._find(name)
        if tool is None or not tool.open_world or not (await self._read_so_far()).tells(tool, arguments):
            return call
        if call.answer is None and await self._questions.allowed_always(call, self.run.agent, name):
            return replace(call, answer=True)
        consent(tool, {name: "high"}, call, arguments, why=TELLS)
        return call

    async def _read_so_far(self) -> Secrecy:
        """What the run has read, in other attempts and processes, too."""
        if self._secrecy is None:
            secrecy = Secrecy(self.run.query)
            for row in await self._steps.of(self.run.id):
                if row["kind"] == "tool" and row["result"]:
                    secrecy.read(self._find(row["tool"]), str(row["result"].get("text", "")))
            self._secrecy = secrecy
        return self._secrecy

    async def _ask(
        self, tool: Tool | None, arguments: Mapping[str, Any], step: Step, need: AnswerNeeded, seconds: float
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
            self._pen.write("question", told | {"kind": asked.kind})
        await self._steps.end(self.run, step.key, outcome="asks", seconds=seconds, state=need.state)


def _repeatable(tool: Tool) -> bool:
    """Whether a call that may have taken effect can be made again: reading, and what knows its own repetitions."""
    return tool.effect == "read" or tool.toolset == "run_agent" or getattr(tool, "idempotent", False)


def _kept(tool: Tool | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    private = tool.private if tool else frozenset()
    return {name: NOT_KEPT if name in private else value for name, value in arguments.items()}


def _told(error: OutriderError) -> str:
    hint = f"\nwhat to do: {error.hint}" if error.hint else ""
    again = "\nthe same call may work later" if error.retryable and not isinstance(error, InvalidInput) else ""
    return f"error ({error.code}): {error.message}{hint}{again}"


def _text(tool: Tool, result: Result) -> str:
    """What can be read of a result, marked where other people wrote it."""
    said = [_said(item) for item in result.content]
    text = "\n\n".join(said) or json.dumps(result.data, ensure_ascii=False, default=str)
    piece = cut(text, RESULT_CHARS)
    if piece.truncated:
        text = f"{piece.text}\n[cut: {piece.total:,} characters in all; ask for less, or for the rest]"
    # Marks that stand in it already are no reason to trust the rest: a stranger can write them, too.
    return wrap(text, tool.name) if tool.untrusted else text


def _said(item: Item) -> str:
    """An item in words: text, of a source also the reference to cite it by, and of what is no text what it is."""
    match item:
        case Text():
            return item.text
        case Image():
            return f"[picture, {item.mime_type}, {len(item.data):,} bytes: not shown]"
        case Link():
            return f"[{item.name}] <{item.uri}> {item.mime_type}".rstrip()
    reference = item.fields.get("reference")
    return f"[{reference}] {item.fields.get('title') or ''} <{item.uri}>\n{item.text}" if reference else item.text


def _sources(result: Result) -> dict[str, dict[str, Any]]:
    """Citation references that the result hands out, each with what it stands for."""
    found = {}
    for item in result.content:
        reference = item.fields.get("reference") if isinstance(item, Resource) else None
        if isinstance(item, Resource) and isinstance(reference, str) and reference:
            title = str(item.fields.get("title") or item.uri)
            found[reference] = {"provider": "webcrawler", "title": title, "href": item.uri, "contentType": "text/html"}
    if isinstance(result.meta.get("outrider/refs"), dict):
        found |= result.meta["outrider/refs"]
    return found


def _files(result: Result) -> list[dict[str, Any]]:
    """Files that the result names: resources with a file's id."""
    return [
        {
            "id": item.fields["fileId"],
            "title": item.fields.get("title", ""),
            "content_type": item.fields.get("contentType", ""),
            "uri": item.uri,
        }
        for item in result.content
        if isinstance(item, Resource) and item.fields.get("fileId")
    ]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
