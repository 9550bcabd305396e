"""What is seen during an evaluation: after each action a picture, and what the page has logged since the last."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from outrider.agents.evaluations import Evaluation, EvaluationRecord, Evaluations
from outrider.browser.page.console import ConsoleMessage
from outrider.browser.page.network import NetworkRequest
from outrider.browser.page.screenshot import take_screenshot
from outrider.browser.protocol.redact import clean_url
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.session import Session
from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, OutriderError, Unavailable
from outrider.core.pausable_timeout import limit_time
from outrider.core.result import Result
from outrider.core.tool import Services, Tool, Toolset
from outrider.core.tool_policy import ToolPolicy
from outrider.core.toolbox import Toolbox
from outrider.toolsets.browser.results import clean_line, translate_errors

RECORD_TIMEOUT_S = 8.0  # that a look may take; a page that hangs must not hold the agent up
PAGE_SCRIPT = """() => ({
  title: document.title,
  text: (document.body?.innerText ?? '').slice(0, 2000),
  frames: [...document.querySelectorAll('iframe')].filter(each => each.checkVisibility?.() ?? true)
    .slice(0, 20).map(each => each.src),
})"""


@dataclass(frozen=True)
class FinalPage:
    """What a page looks like at the end."""

    url: str = ""
    title: str = ""
    text: str = ""
    frames: tuple[str, ...] = ()


@dataclass
class EvaluationRecording:
    """One evaluation under observation, in this process.

    Attributes:
        step: The number of the last step; -1 before the arrival.
        pictures: How many have been taken.
        last_picture_step: The step of the last picture.
    """

    evaluation: Evaluation
    step: int = -1
    pictures: int = 0
    last_picture_step: int = -1
    record_counts: dict[str, int] = field(default_factory=dict)
    session: str = ""
    messages: int = 0
    requests: dict[int, "NetworkRequest"] = field(default_factory=dict)
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def action_timeout_s(self) -> float | None:
        """How long one action may take."""
        return self.evaluation.limits.get("step_timeout_s")

    def reserve_record(self, kind: str, *, is_error: bool) -> bool:
        """Whether one more record of that kind is kept; counts it."""
        max_records = (
            1_000  # records of the console, and of the network, of one evaluation; twice as many where they are errors
        )
        self.record_counts[kind] = self.record_counts.get(kind, 0) + 1
        return self.record_counts[kind] <= max_records * (2 if is_error else 1)


class EvaluationRecorder:
    """Watches all evaluations of this process.

    Args:
        evaluations: Keeps what is seen.
        browsers: Shows it.
        artifacts: Keeps the pictures.
        on_run: Hears of each call the evaluation and its run, so that somebody waits for the end of that.
    """

    def __init__(
        self,
        evaluations: Evaluations,
        browsers: Browsers,
        artifacts: ArtifactStore,
        *,
        on_run: Callable[[str, str], None],
    ) -> None:
        self._evaluations = evaluations
        self._browsers = browsers
        self._artifacts = artifacts
        self._recordings: dict[str, EvaluationRecording] = {}
        self._on_run = on_run

    async def find_recording(self, call: Call) -> EvaluationRecording | None:
        """The evaluation that a call belongs to: its session bears the evaluation's name."""
        watch = self._recordings.get(call.session)
        if watch is None and call.run is not None:
            evaluation = await self._evaluations.find(call.session)  # another process began it
            watch = await self.begin_recording(evaluation) if evaluation else None
        if watch is not None and call.run is not None:
            self._on_run(call.session, call.run.id)
        return watch

    async def begin_recording(self, evaluation: Evaluation) -> EvaluationRecording:
        """Begins to watch, or goes on where another process has stopped."""
        watch = self._recordings.setdefault(evaluation.id, EvaluationRecording(evaluation))
        counts = await self._evaluations.count_records(evaluation.id)
        watch.step = await self._evaluations.find_last_step(evaluation.id)
        watch.pictures = counts["agent_step"]
        watch.record_counts = {kind: counts[kind] for kind in ("console", "network")}
        return watch

    def forget_evaluation(self, evaluation_id: str) -> None:
        """Stops watching."""
        self._recordings.pop(evaluation_id, None)

    async def record_call(
        self, recording: EvaluationRecording, tool: Tool, arguments: object, call_tool: Callable[[], Awaitable[Result]]
    ) -> Result:
        """Makes a call of the evaluation, within its time, and keeps what came of it."""
        try:
            result = await _run_limited(call_tool, recording.action_timeout_s, tool.name)
        except AnswerNeeded:
            raise
        except OutriderError as error:
            await self._record_step_safely(recording, tool, arguments, error)
            raise
        await self._record_step_safely(recording, tool, arguments, None)
        return result

    async def finish_recording(self, evaluation: Evaluation) -> FinalPage:
        """The last look: a picture if the last step has none, what was logged since, and the page itself."""
        watch = self._recordings.get(evaluation.id)
        session = self._find_session(evaluation.id)
        if watch is None or session is None:
            return FinalPage()
        with suppress(OutriderError), anyio.move_on_after(RECORD_TIMEOUT_S):
            async with watch.lock:
                records = self._collect_log_records(watch, session, every=True)
                if watch.last_picture_step != watch.step:
                    records.append(await self._record_picture(watch, session, "last", failed=False))
                await self._evaluations.save_records(records)
            return await _read_final_page(session)
        return FinalPage(clean_url(session.url))

    async def _record_step_safely(
        self, recording: EvaluationRecording, tool: Tool, arguments: object, error: OutriderError | None
    ) -> None:
        """Keeps one step. Whatever fails here is not the agent's business."""
        if tool.toolset != "browser":
            return
        with suppress(OutriderError), anyio.move_on_after(RECORD_TIMEOUT_S):
            async with recording.lock:
                await self._record_step(recording, tool, arguments, error)

    async def _record_step(
        self, recording: EvaluationRecording, tool: Tool, arguments: object, error: OutriderError | None
    ) -> None:
        max_pictures = 200  # of one evaluation, the last one besides
        recording.step += 1
        session = self._find_session(recording.evaluation.id)
        url = clean_url(session.url) if session else ""
        title = clean_line(await session.read_title(), 200) if session else ""
        outcome = f"{error.code}: {error.message}" if error else "ok"
        details = {"step": recording.step, "url": url, "title": title, "tool": tool.name}
        summary = f"{_describe_action(tool, arguments)}: {clean_line(outcome, 800)}"
        failed = error is not None
        records = [
            EvaluationRecord(recording.evaluation.id, "agent", recording.step, summary, url, failed, details=details)
        ]
        if session is not None:
            records += self._collect_log_records(recording, session)
            if recording.pictures < max_pictures:
                reason = "first" if recording.step == 0 else "error" if failed else "step"
                records.append(await self._record_picture(recording, session, reason, failed=failed))
        await self._evaluations.save_records(records)

    def _find_session(self, owner: str) -> "Session | None":
        """The browser session that the evaluation used last."""
        return max(self._browsers.list_sessions(owner), key=lambda each: each.used_at, default=None)

    async def _record_picture(
        self, recording: EvaluationRecording, session: "Session", reason: str, *, failed: bool
    ) -> EvaluationRecord:
        url, title = clean_url(session.url), clean_line(await session.read_title(), 200)
        details: dict[str, Any] = {"capture_reason": reason, "title": title, "source": "browser"}
        try:
            data = await _take_picture(session)
            name = f"step-{recording.step}.jpg"
            owner = recording.evaluation
            whose = Call(workspace=owner.workspace or None, identity=owner.identity)
            kept = await self._artifacts.save(data, name=name, mime_type="image/jpeg", session=owner.id, call=whose)
        except OutriderError as error:
            told = f"no picture: {error.message}"
            details |= {"error": clean_line(told)}
            return EvaluationRecord(
                recording.evaluation.id, "screenshot", recording.step, told, url, True, "agent_step", details
            )
        recording.pictures += 1
        recording.last_picture_step = recording.step
        details |= {"mime_type": "image/jpeg", "size": len(data)}
        return EvaluationRecord(
            recording.evaluation.id, "screenshot", recording.step, title, url, failed, "agent_step", details, kept.id
        )

    def _collect_log_records(
        self, recording: EvaluationRecording, session: "Session", *, every: bool = False
    ) -> list[EvaluationRecord]:
        """What the page has said and requested since the last look; with `every`, also what is still under way."""
        if recording.session != session.id:
            recording.session, recording.messages, recording.requests = session.id, 0, {}
        said = session.console.list_since(recording.messages)
        recording.messages = session.console.total
        there = {id(each): each for each in session.network.requests}
        over = [each for key, each in there.items() if key not in recording.requests and (every or _has_ended(each))]
        recording.requests = {key: each for key, each in there.items() if key in recording.requests or each in over}
        made = [*_iter_message_records(recording, said), *_iter_request_records(recording, over)]
        return [each for each in made if recording.reserve_record(each.kind, is_error=each.has_error)]


class RecordedToolbox(Toolbox):
    """All tools of the house as agents use them: calls of evaluations are watched, and can be ended by `inner` tools.

    Args:
        recorder: Sees the calls.
        inner: Tools that only those get who name them: no list shows them, and no policy takes them away.
    """

    def __init__(
        self,
        toolsets: Iterable[Toolset],
        services: Services,
        events: CallRecorder,
        policy: ToolPolicy,
        *,
        recorder: EvaluationRecorder,
        inner: Mapping[str, Tool],
    ) -> None:
        super().__init__(toolsets, services, events, policy)
        self._recorder = recorder
        self._inner = inner

    def get_tool(self, name: str) -> Tool:
        """The tool of that name, or NotFound with the nearest names."""
        return self._inner[name] if name in self._inner else super().get_tool(name)

    async def call(self, name: str, arguments: object = None, call: Call | None = None) -> Result:
        """Calls a tool, see `Toolbox.call`."""
        watch = await self._recorder.find_recording(call) if call else None
        if watch is None:
            return await super().call(name, arguments, call)
        tool = await self.find_tool(name)
        act = super().call
        return await self._recorder.record_call(watch, tool, arguments, lambda: act(name, arguments, call))


async def _run_limited(call_tool: Callable[[], Awaitable[Result]], seconds: float | None, name: str) -> Result:
    with limit_time(seconds):
        return await call_tool()
    raise Unavailable(
        f"{name} did not finish within {seconds:g} seconds, which is what a step may take",
        code="timeout",
        hint="look at the page; try another way",
    )


async def _take_picture(session: "Session") -> bytes:
    jpeg_quality = 50  # of the JPEGs; a viewport then takes 20 to 80 kB
    if dialog := session.dialogs.unanswered:
        raise Unavailable(f"a {dialog.kind} dialog is open")
    async with translate_errors(), session.acquire_page(gated=False) as page:
        return (await take_screenshot(page, format="jpeg", quality=jpeg_quality)).data


async def _read_final_page(session: "Session") -> FinalPage:
    if session.dialogs.unanswered:
        return FinalPage(clean_url(session.url))
    async with translate_errors(), session.acquire_page(gated=False) as page:
        seen = await page.evaluate_in("outrider", PAGE_SCRIPT, timeout=3.0)
    return FinalPage(clean_url(session.url), clean_line(seen["title"], 200), seen["text"], tuple(seen["frames"]))


def _describe_action(tool: Tool, arguments: object) -> str:
    """The action in a few words, without what may be a secret."""
    described_arguments = (
        "selector",
        "url",
        "key",
        "text",
        "to",
        "direction",
    )  # arguments that say what an action is about
    given = arguments if isinstance(arguments, Mapping) else {}
    shown = [str(given[name]) for name in described_arguments if given.get(name) and name not in tool.private]
    about = [clean_url(each) if "://" in each else each for each in shown]
    return clean_line(" ".join([tool.name, *about]), 150)


def _iter_message_records(
    recording: EvaluationRecording, said: Iterable["ConsoleMessage"]
) -> Iterable[EvaluationRecord]:
    for each in said:
        place = {"url": each.url, "line": each.line, "column": each.column}
        details: dict[str, Any] = {"level": each.level}
        details |= {"location": {name: value for name, value in place.items() if value}} if each.url else {}
        yield EvaluationRecord(
            recording.evaluation.id,
            "console",
            max(recording.step, 0),
            f"{each.level}: {clean_line(each.text, 900)}",
            each.url,
            each.is_error,
            details=details,
            at=each.at,
        )


def _iter_request_records(
    recording: EvaluationRecording, made: Iterable["NetworkRequest"]
) -> Iterable[EvaluationRecord]:
    static_kinds = frozenset(
        {"image", "font", "stylesheet", "script", "media", "manifest", "texttrack", "ping", "prefetch"}
    )
    for each in made:
        if each.kind in static_kinds and not each.has_failed:
            continue
        ended = each.error or (str(each.status) if each.status else "under way")
        details = {
            "method": each.method,
            "url": each.url,
            "status": each.status,
            "duration_ms": each.milliseconds,
            "error": clean_line(each.error) or None,
        }
        yield EvaluationRecord(
            recording.evaluation.id,
            "network",
            max(recording.step, 0),
            clean_line(f"{each.method} {each.url}: {ended}", 1_000),
            each.url,
            each.has_failed,
            details=details,
            at=each.at,
        )


def _has_ended(request: "NetworkRequest") -> bool:
    return request.milliseconds is not None or bool(request.error)
