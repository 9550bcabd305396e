"""What is seen during an evaluation: after each action a picture, and what the page has logged since the last."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from outrider.agents.evaluations import Evaluation, Evaluations, Record
from outrider.browser.browsers import Browsers
from outrider.browser.console import Message
from outrider.browser.network import Request
from outrider.browser.redact import clean_url
from outrider.browser.screenshot import screenshot
from outrider.browser.session import Session
from outrider.core.artifacts import Artifacts
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, OutriderError, Unavailable
from outrider.core.events import Events
from outrider.core.policy import ToolPolicy
from outrider.core.result import Result
from outrider.core.standstill import limit
from outrider.core.tool import Services, Tool, Toolset
from outrider.core.toolbox import Toolbox
from outrider.toolsets.browser_use import in_words, line

QUALITY = 50  # of the JPEGs; a viewport then takes 20 to 80 kB
PICTURES = 200  # of one evaluation, the last one besides
ENTRIES = 1_000  # records of the console, and of the network, of one evaluation; twice as many where they are errors
LOOK_SECONDS = 8.0  # that a look may take; a page that hangs must not hold the agent up
TOLD = ("selector", "url", "key", "text", "to", "direction")  # arguments that say what an action is about
STATIC = frozenset({"image", "font", "stylesheet", "script", "media", "manifest", "texttrack", "ping", "prefetch"})
SEEN = """() => ({
  title: document.title,
  text: (document.body?.innerText ?? '').slice(0, 2000),
  frames: [...document.querySelectorAll('iframe')].filter(each => each.checkVisibility?.() ?? true)
    .slice(0, 20).map(each => each.src),
})"""


@dataclass(frozen=True)
class Sight:
    """What a page looks like at the end."""

    url: str = ""
    title: str = ""
    text: str = ""
    frames: tuple[str, ...] = ()


@dataclass
class Watch:
    """One evaluation under observation, in this process.

    Attributes:
        step: The number of the last step; -1 before the arrival.
        pictures: How many have been taken.
        last: The step of the last picture.
    """

    evaluation: Evaluation
    step: int = -1
    pictures: int = 0
    last: int = -1
    kept: dict[str, int] = field(default_factory=dict)
    session: str = ""
    messages: int = 0
    requests: dict[int, "Request"] = field(default_factory=dict)
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def seconds(self) -> float | None:
        """How long one action may take."""
        return self.evaluation.limits.get("step_timeout_s")

    def room(self, kind: str, *, is_error: bool) -> bool:
        """Whether one more record of that kind is kept; counts it."""
        self.kept[kind] = self.kept.get(kind, 0) + 1
        return self.kept[kind] <= ENTRIES * (2 if is_error else 1)


class Watcher:
    """Watches all evaluations of this process.

    Args:
        evaluations: Keeps what is seen.
        browsers: Shows it.
        artifacts: Keeps the pictures.
        mind: Hears of each call the evaluation and its run, so that somebody waits for the end of that.
    """

    def __init__(
        self, evaluations: Evaluations, browsers: Browsers, artifacts: Artifacts, *, mind: Callable[[str, str], None]
    ) -> None:
        self._evaluations = evaluations
        self._browsers = browsers
        self._artifacts = artifacts
        self._watches: dict[str, Watch] = {}
        self._mind = mind

    async def of(self, call: Call) -> Watch | None:
        """The evaluation that a call belongs to: its session bears the evaluation's name."""
        watch = self._watches.get(call.session)
        if watch is None and call.run is not None:
            evaluation = await self._evaluations.find(call.session)  # another process began it
            watch = await self.begin(evaluation) if evaluation else None
        if watch is not None and call.run is not None:
            self._mind(call.session, call.run.id)
        return watch

    async def begin(self, evaluation: Evaluation) -> Watch:
        """Begins to watch, or goes on where another process has stopped."""
        watch = self._watches.setdefault(evaluation.id, Watch(evaluation))
        counts = await self._evaluations.counts(evaluation.id)
        watch.step = await self._evaluations.last_step(evaluation.id)
        watch.pictures = counts["agent_step"]
        watch.kept = {kind: counts[kind] for kind in ("console", "network")}
        return watch

    def forget(self, evaluation_id: str) -> None:
        """Stops watching."""
        self._watches.pop(evaluation_id, None)

    async def called(self, watch: Watch, tool: Tool, arguments: object, act: Callable[[], Awaitable[Result]]) -> Result:
        """Makes a call of the evaluation, within its time, and keeps what came of it."""
        try:
            result = await _limited(act, watch.seconds, tool.name)
        except AnswerNeeded:
            raise
        except OutriderError as error:
            await self._after(watch, tool, arguments, error)
            raise
        await self._after(watch, tool, arguments, None)
        return result

    async def end(self, evaluation: Evaluation) -> Sight:
        """The last look: a picture if the last step has none, what was logged since, and the page itself."""
        watch = self._watches.get(evaluation.id)
        session = self._session(evaluation.id)
        if watch is None or session is None:
            return Sight()
        with suppress(OutriderError), anyio.move_on_after(LOOK_SECONDS):
            async with watch.lock:
                records = self._logged(watch, session, every=True)
                if watch.last != watch.step:
                    records.append(await self._pictured(watch, session, "last", failed=False))
                await self._evaluations.record(records)
            return await _sight(session)
        return Sight(clean_url(session.url))

    async def _after(self, watch: Watch, tool: Tool, arguments: object, error: OutriderError | None) -> None:
        """Keeps one step. Whatever fails here is not the agent's business."""
        if tool.toolset != "browser":
            return
        with suppress(OutriderError), anyio.move_on_after(LOOK_SECONDS):
            async with watch.lock:
                await self._look(watch, tool, arguments, error)

    async def _look(self, watch: Watch, tool: Tool, arguments: object, error: OutriderError | None) -> None:
        watch.step += 1
        session = self._session(watch.evaluation.id)
        url = clean_url(session.url) if session else ""
        title = line(await session.title(), 200) if session else ""
        outcome = f"{error.code}: {error.message}" if error else "ok"
        details = {"step": watch.step, "url": url, "title": title, "tool": tool.name}
        summary = f"{_named(tool, arguments)}: {line(outcome, 800)}"
        failed = error is not None
        records = [Record(watch.evaluation.id, "agent", watch.step, summary, url, failed, details=details)]
        if session is not None:
            records += self._logged(watch, session)
            if watch.pictures < PICTURES:
                reason = "first" if watch.step == 0 else "error" if failed else "step"
                records.append(await self._pictured(watch, session, reason, failed=failed))
        await self._evaluations.record(records)

    def _session(self, owner: str) -> "Session | None":
        """The browser session that the evaluation used last."""
        return max(self._browsers.list(owner), key=lambda each: each.used_at, default=None)

    async def _pictured(self, watch: Watch, session: "Session", reason: str, *, failed: bool) -> Record:
        url, title = clean_url(session.url), line(await session.title(), 200)
        details: dict[str, Any] = {"capture_reason": reason, "title": title, "source": "browser"}
        try:
            data = await _picture(session)
            name = f"step-{watch.step}.jpg"
            owner = watch.evaluation
            whose = Call(workspace=owner.workspace or None, identity=owner.identity)
            kept = await self._artifacts.save(data, name=name, mime_type="image/jpeg", session=owner.id, call=whose)
        except OutriderError as error:
            told = f"no picture: {error.message}"
            details |= {"error": line(told)}
            return Record(watch.evaluation.id, "screenshot", watch.step, told, url, True, "agent_step", details)
        watch.pictures += 1
        watch.last = watch.step
        details |= {"mime_type": "image/jpeg", "size": len(data)}
        return Record(watch.evaluation.id, "screenshot", watch.step, title, url, failed, "agent_step", details, kept.id)

    def _logged(self, watch: Watch, session: "Session", *, every: bool = False) -> list[Record]:
        """What the page has said and requested since the last look; with `every`, also what is still under way."""
        if watch.session != session.id:
            watch.session, watch.messages, watch.requests = session.id, 0, {}
        said = session.console.since(watch.messages)
        watch.messages = session.console.total
        there = {id(each): each for each in session.network.requests}
        over = [each for key, each in there.items() if key not in watch.requests and (every or _is_over(each))]
        watch.requests = {key: each for key, each in there.items() if key in watch.requests or each in over}
        made = [*_messages(watch, said), *_requests(watch, over)]
        return [each for each in made if watch.room(each.kind, is_error=each.has_error)]


class WatchedToolbox(Toolbox):
    """All tools of the house as agents use them: calls of evaluations are watched, and can be ended by `inner` tools.

    Args:
        watcher: Sees the calls.
        inner: Tools that only those get who name them: no list shows them, and no policy takes them away.
    """

    def __init__(
        self,
        toolsets: Iterable[Toolset],
        services: Services,
        events: Events,
        policy: ToolPolicy,
        *,
        watcher: Watcher,
        inner: Mapping[str, Tool],
    ) -> None:
        super().__init__(toolsets, services, events, policy)
        self._watcher = watcher
        self._inner = inner

    def get(self, name: str) -> Tool:
        """The tool of that name, or NotFound with the nearest names."""
        return self._inner[name] if name in self._inner else super().get(name)

    async def call(self, name: str, arguments: object = None, call: Call | None = None) -> Result:
        """Calls a tool, see `Toolbox.call`."""
        watch = await self._watcher.of(call) if call else None
        if watch is None:
            return await super().call(name, arguments, call)
        tool = await self.find(name)
        act = super().call
        return await self._watcher.called(watch, tool, arguments, lambda: act(name, arguments, call))


async def _limited(act: Callable[[], Awaitable[Result]], seconds: float | None, name: str) -> Result:
    with limit(seconds):
        return await act()
    raise Unavailable(
        f"{name} did not finish within {seconds:g} seconds, which is what a step may take",
        code="timeout",
        hint="look at the page; try another way",
    )


async def _picture(session: "Session") -> bytes:
    if dialog := session.dialogs.waiting:
        raise Unavailable(f"a {dialog.kind} dialog is open")
    async with in_words(), session.use(gated=False) as page:
        return (await screenshot(page, format="jpeg", quality=QUALITY)).data


async def _sight(session: "Session") -> Sight:
    if session.dialogs.waiting:
        return Sight(clean_url(session.url))
    async with in_words(), session.use(gated=False) as page:
        seen = await page.evaluate_in("outrider", SEEN, timeout=3.0)
    return Sight(clean_url(session.url), line(seen["title"], 200), seen["text"], tuple(seen["frames"]))


def _named(tool: Tool, arguments: object) -> str:
    """The action in a few words, without what may be a secret."""
    given = arguments if isinstance(arguments, Mapping) else {}
    shown = [str(given[name]) for name in TOLD if given.get(name) and name not in tool.private]
    about = [clean_url(each) if "://" in each else each for each in shown]
    return line(" ".join([tool.name, *about]), 150)


def _messages(watch: Watch, said: Iterable["Message"]) -> Iterable[Record]:
    for each in said:
        place = {"url": each.url, "line": each.line, "column": each.column}
        details: dict[str, Any] = {"level": each.level}
        details |= {"location": {name: value for name, value in place.items() if value}} if each.url else {}
        yield Record(
            watch.evaluation.id,
            "console",
            max(watch.step, 0),
            f"{each.level}: {line(each.text, 900)}",
            each.url,
            each.is_error,
            details=details,
            at=each.at,
        )


def _requests(watch: Watch, made: Iterable["Request"]) -> Iterable[Record]:
    for each in made:
        if each.kind in STATIC and not each.failed:
            continue
        ended = each.error or (str(each.status) if each.status else "under way")
        details = {
            "method": each.method,
            "url": each.url,
            "status": each.status,
            "duration_ms": each.milliseconds,
            "error": line(each.error) or None,
        }
        yield Record(
            watch.evaluation.id,
            "network",
            max(watch.step, 0),
            line(f"{each.method} {each.url}: {ended}", 1_000),
            each.url,
            each.failed,
            details=details,
            at=each.at,
        )


def _is_over(request: "Request") -> bool:
    return request.milliseconds is not None or bool(request.error)
