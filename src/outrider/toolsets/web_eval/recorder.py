"""Record evaluations: a screenshot after each action, console messages and requests."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.evaluations import Evaluation, EvaluationRecord, Evaluations
from outrider.browser.protocol.redact import clean_url
from outrider.browser.session.browsers import Browsers
from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, OutriderError, Refused, Unavailable
from outrider.core.pausable_timeout import limit_time
from outrider.core.result import Result
from outrider.core.tool import Services, Tool, Toolset
from outrider.core.tool_policy import ToolPolicy
from outrider.core.toolbox import Toolbox
from outrider.toolsets.browser.results import clean_line, translate_errors
from outrider.toolsets.web_eval.report import FinalPage

if TYPE_CHECKING:  # these modules load the browser's code, which is not needed to list the tools
    from outrider.browser.page.console import ConsoleMessage
    from outrider.browser.page.network import NetworkRequest
    from outrider.browser.session.session import Session

RECORD_TIMEOUT_S = 8.0  # a page that hangs must not delay the agent
PAGE_SCRIPT = """() => ({
  title: document.title,
  text: (document.body?.innerText ?? '').slice(0, 2000),
  frames: [...document.querySelectorAll('iframe')].filter(frame => frame.checkVisibility?.() ?? true)
    .slice(0, 20).map(frame => frame.src),
})"""


@dataclass
class EvaluationRecording:
    """State of the recording of one evaluation in this process.

    Attributes:
        step: Number of the last step; -1 before the first.
        pictures: Number of pictures taken.
        last_picture_step: Step of the last picture.
        record_counts: Number of records by kind.
        session: Browser session of the following two.
        messages: Number of its console messages that are recorded.
        requests: Its requests that are recorded, by object id.
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
        """Seconds that one action may take."""
        return self.evaluation.limits.get("step_timeout_s")

    def count_record(self, kind: str, *, is_error: bool) -> bool:
        """Count a record and return whether it may be stored."""
        max_records = 1_000  # per kind; errors may be stored beyond it
        self.record_counts[kind] = self.record_counts.get(kind, 0) + 1
        return self.record_counts[kind] <= max_records * (2 if is_error else 1)


class EvaluationRecorder:
    """Records all evaluations of this process.

    Args:
        evaluations: Stores the records.
        browsers: Holds the evaluations' browser sessions.
        artifacts: Stores the pictures.
        on_run: Called for each tool call of a run with the ids of the evaluation and the run.
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
        """Find the recording of a call's evaluation, whose id is the call's session."""
        recording = self._recordings.get(call.session)
        if recording is None and call.run is not None:
            evaluation = await self._evaluations.find(call.session)  # another process started it
            recording = await self.begin_recording(evaluation) if evaluation else None
        if recording is not None and call.run is not None:
            self._on_run(call.session, call.run.id)
        return recording

    async def begin_recording(self, evaluation: Evaluation) -> EvaluationRecording:
        """Start the recording, or continue that of another process."""
        recording = self._recordings.setdefault(evaluation.id, EvaluationRecording(evaluation))
        counts = await self._evaluations.count_records(evaluation.id)
        recording.step = await self._evaluations.find_last_step(evaluation.id)
        recording.pictures = counts["agent_step"]
        recording.record_counts = {kind: counts[kind] for kind in ("console", "network")}
        return recording

    def forget_evaluation(self, evaluation_id: str) -> None:
        """Discard the recording."""
        self._recordings.pop(evaluation_id, None)

    async def record_call(
        self, recording: EvaluationRecording, tool: Tool, arguments: object, call_tool: Callable[[], Awaitable[Result]]
    ) -> Result:
        """Call a tool within the evaluation's time limit for actions, and record the step."""
        seconds = recording.action_timeout_s
        result: Result | None = None
        try:
            with limit_time(seconds):
                result = await call_tool()
            if result is None:
                message = f"{tool.name} timed out after {seconds:g} s, the limit for a step"
                raise Unavailable(message, code="timeout", hint="look at the page and try another way")
        except AnswerNeeded:
            raise
        except OutriderError as error:
            await self._record_step_safely(recording, tool, arguments, error)
            raise
        stopped = result.data["error"] if result.is_error and result.data else None
        error = Refused(stopped["message"], code=stopped["code"]) if stopped else None
        await self._record_step_safely(recording, tool, arguments, error)
        return result

    async def finish_recording(self, evaluation: Evaluation) -> FinalPage:
        """Record what the page has logged since the last step, and a picture if that has none; return the page."""
        recording = self._recordings.get(evaluation.id)
        session = self._find_session(evaluation.id)
        if recording is None or session is None:
            return FinalPage()
        with suppress(OutriderError), anyio.move_on_after(RECORD_TIMEOUT_S):
            async with recording.lock:
                records = self._collect_log_records(recording, session, include_pending=True)
                if recording.last_picture_step != recording.step:
                    records.append(await self._record_picture(recording, session, "last", failed=False))
                await self._evaluations.save_records(records)
            if session.dialogs.unanswered:
                return FinalPage(clean_url(session.url))
            async with translate_errors(), session.acquire_page(gated=False) as page:
                facts = await page.evaluate_in("outrider", PAGE_SCRIPT, timeout=3.0)
            return FinalPage(
                clean_url(session.url), clean_line(facts["title"], 200), facts["text"], tuple(facts["frames"])
            )
        return FinalPage(clean_url(session.url))

    async def _record_step_safely(
        self, recording: EvaluationRecording, tool: Tool, arguments: object, error: OutriderError | None
    ) -> None:
        """Record one step of the browser; a failure to record it does not fail the step."""
        if tool.toolset != "browser" and tool.name != "runFlow":
            return
        with suppress(OutriderError), anyio.move_on_after(RECORD_TIMEOUT_S):
            async with recording.lock:
                await self._record_step(recording, tool, arguments, error)

    async def _record_step(
        self, recording: EvaluationRecording, tool: Tool, arguments: object, error: OutriderError | None
    ) -> None:
        max_pictures = 200  # not counting the last one
        recording.step += 1
        session = self._find_session(recording.evaluation.id)
        url = clean_url(session.url) if session else ""
        title = clean_line(await session.read_title(), 200) if session else ""
        outcome = f"{error.code}: {error.message}" if error else "ok"
        details = {"step": recording.step, "url": url, "title": title, "tool": tool.name}
        named_arguments = arguments if isinstance(arguments, Mapping) else {}
        names = ("selector", "url", "key", "text", "to", "direction", "name")
        values = [
            str(named_arguments[name]) for name in names if named_arguments.get(name) and name not in tool.private
        ]
        values = [clean_url(value) if "://" in value else value for value in values]
        action = clean_line(" ".join([tool.name, *values]), 150)
        summary = f"{action}: {clean_line(outcome, 800)}"
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
        return max(self._browsers.list_sessions(owner), key=lambda session: session.used_at, default=None)

    async def _record_picture(
        self, recording: EvaluationRecording, session: "Session", reason: str, *, failed: bool
    ) -> EvaluationRecord:
        from outrider.browser.page.screenshot import take_screenshot

        url, title = clean_url(session.url), clean_line(await session.read_title(), 200)
        details: dict[str, Any] = {"capture_reason": reason, "title": title, "source": "browser"}
        try:
            if dialog := session.dialogs.unanswered:
                raise Unavailable(f"a {dialog.kind} dialog is open")
            async with translate_errors(), session.acquire_page(gated=False) as page:
                data = (await take_screenshot(page, format="jpeg", quality=50)).data
            name = f"step-{recording.step}.jpg"
            evaluation = recording.evaluation
            owner = Call(workspace=evaluation.workspace or None, identity=evaluation.identity)
            artifact = await self._artifacts.save(
                data, name=name, mime_type="image/jpeg", session=evaluation.id, call=owner
            )
        except OutriderError as error:
            summary = f"no picture: {error.message}"
            details |= {"error": clean_line(summary)}
            return EvaluationRecord(
                recording.evaluation.id, "screenshot", recording.step, summary, url, True, "agent_step", details
            )
        recording.pictures += 1
        recording.last_picture_step = recording.step
        details |= {"mime_type": "image/jpeg", "size": len(data)}
        return EvaluationRecord(
            evaluation.id, "screenshot", recording.step, title, url, failed, "agent_step", details, artifact.id
        )

    def _collect_log_records(
        self, recording: EvaluationRecording, session: "Session", *, include_pending: bool = False
    ) -> list[EvaluationRecord]:
        """Return records of the console messages and ended requests since the last step."""
        if recording.session != session.id:
            recording.session, recording.messages, recording.requests = session.id, 0, {}
        messages = session.console.list_since(recording.messages)
        recording.messages = session.console.total
        requests = {id(request): request for request in session.network.requests}
        new = {
            key: request
            for key, request in requests.items()
            if key not in recording.requests
            and (include_pending or request.milliseconds is not None or bool(request.error))
        }
        recording.requests = {
            key: request for key, request in requests.items() if key in recording.requests or key in new
        }
        records = [*_iter_message_records(recording, messages), *_iter_request_records(recording, new.values())]
        return [record for record in records if recording.count_record(record.kind, is_error=record.has_error)]


class RecordedToolbox(Toolbox):
    """The app's tools for agents, with calls of evaluations recorded.

    Args:
        recorder: Records the calls.
        inner: Tools outside all lists and policies, for agents that get them by name.
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
        unlisted: Collection[str] = (),
    ) -> None:
        super().__init__(toolsets, services, events, policy, unlisted=unlisted)
        self._recorder = recorder
        self._inner = inner

    def get_tool(self, name: str) -> Tool:
        """Return the tool of that name. Raises NotFound, which suggests similar names."""
        return self._inner[name] if name in self._inner else super().get_tool(name)

    async def call(self, name: str, arguments: object = None, call: Call | None = None) -> Result:
        """Call a tool, see `Toolbox.call`."""
        recording = await self._recorder.find_recording(call) if call else None
        if recording is None:
            return await super().call(name, arguments, call)
        tool = await self.find_tool(name)
        call_unrecorded = super().call
        return await self._recorder.record_call(
            recording, tool, arguments, lambda: call_unrecorded(name, arguments, call)
        )


def _iter_message_records(
    recording: EvaluationRecording, messages: Iterable["ConsoleMessage"]
) -> Iterable[EvaluationRecord]:
    for message in messages:
        location = {"url": message.url, "line": message.line, "column": message.column}
        details: dict[str, Any] = {"level": message.level}
        details |= {"location": {name: value for name, value in location.items() if value}} if message.url else {}
        yield EvaluationRecord(
            recording.evaluation.id,
            "console",
            max(recording.step, 0),
            f"{message.level}: {clean_line(message.text, 900)}",
            message.url,
            message.is_error,
            details=details,
            at=message.at,
        )


def _iter_request_records(
    recording: EvaluationRecording, requests: Iterable["NetworkRequest"]
) -> Iterable[EvaluationRecord]:
    """Yield a record of each request, except of static files that loaded."""
    static_kinds = ("image", "font", "stylesheet", "script", "media", "manifest", "texttrack", "ping", "prefetch")
    for request in requests:
        if request.kind in static_kinds and not request.has_failed:
            continue
        outcome = request.error or (str(request.status) if request.status else "under way")
        details = {
            "method": request.method,
            "url": request.url,
            "status": request.status,
            "duration_ms": request.milliseconds,
            "error": clean_line(request.error) or None,
        }
        yield EvaluationRecord(
            recording.evaluation.id,
            "network",
            max(recording.step, 0),
            clean_line(f"{request.method} {request.url}: {outcome}", 1_000),
            request.url,
            request.has_failed,
            details=details,
            at=request.at,
        )
