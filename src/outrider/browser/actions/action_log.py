"""Remember what was done successfully in a session, with the evidence of each element and what it has changed."""

from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.browser.protocol.cdp import ContextGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import is_secret_name, record_url
from outrider.browser.protocol.scripts import PageScripts
from outrider.browser.protocol.values import ScriptError
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from outrider.browser.actions.locate import ElementLocation
    from outrider.browser.actions.outcome import ActionOutcome


@dataclass(frozen=True)
class PageMilestones:
    """The address, title and messages of a page at one moment.

    Attributes:
        url: The address.
        title: The document's title.
        headings: Its first headings of the two highest levels.
        messages: Texts of alerts, status lines and dialogs.
        alerts: Those of its messages that are alerts, as errors are.
        needs_person: Whether it asks for a password or shows a challenge.
    """

    url: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    needs_person: bool = False

    @classmethod
    def from_report(cls, report: Mapping[str, Any]) -> "PageMilestones":
        """Build them from the report of `scripts/evidence.js`."""
        lines = (tuple(map(str, report.get(name, ()))) for name in ("headings", "messages", "alerts"))
        url, title = record_url(str(report.get("url", ""))), str(report.get("title", ""))
        return cls(url, title, *lines, needs_person=bool(report.get("person")))

    def add_frame(self, frame: "PageMilestones") -> "PageMilestones":
        """Return the milestones of the page with the headings and messages of one of its frames."""
        headings, messages = self.headings + frame.headings, self.messages + frame.messages
        return replace(self, headings=headings, messages=messages, alerts=self.alerts + frame.alerts)


@dataclass(frozen=True)
class PerformedAction:
    """An action that was done.

    Attributes:
        number: Its number in the session, from 1.
        kind: `open`, `click`, `fill`, `select`, `check`, `uncheck`, `press`, `hover`, `drag`, `upload`, `scroll`,
            `wait`, `dialog`, `tab`, `back`, `forward`, `reload`, or `tool` for one that the page offers.
        values: Its arguments. A secret text is not among them; `secret` is True in its place.
        element: The evidence of its element: see `scripts/evidence.js`; `frame` is the address of the frame around it.
        goal: The evidence of the element that something was dragged onto.
        before: The page before it.
        after: The page after it; None if it was not read.
        is_approved: Whether a person was asked and allowed it.
    """

    number: int
    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)
    element: Mapping[str, Any] | None = None
    goal: Mapping[str, Any] | None = None
    before: PageMilestones = PageMilestones()
    after: PageMilestones | None = None
    is_approved: bool = False


class ActionLog:
    """The newest actions of one session that succeeded.

    Attributes:
        total: The number of the last action.
        is_approved: Whether the running call was allowed by a person.
        secrets: Texts that are recorded as secrets in whatever field they are typed.
        staged: The workspace's names of our copies of files, by the path of the copy.
    """

    def __init__(self) -> None:
        max_actions = 500
        self.total = 0
        self.is_approved = False
        self.secrets: set[str] = set()
        self.staged: dict[str, str] = {}
        self._actions: deque[PerformedAction] = deque(maxlen=max_actions)

    def add(self, kind: str, values: Mapping[str, Any] | None = None, **evidence: Any) -> None:
        """Remember an action; `evidence` are further fields of `PerformedAction`."""
        self.total += 1
        self._actions.append(PerformedAction(self.total, kind, values or {}, is_approved=self.is_approved, **evidence))

    def take_last(self) -> PerformedAction:
        """Remove the last action and return it, because it is part of another."""
        self.total -= 1
        return self._actions.pop()

    def list_since(self, number: int = 0) -> list[PerformedAction]:
        """List the actions after that number, oldest first."""
        return [action for action in self._actions if action.number > number]

    def is_secret(self, text: str) -> bool:
        """Return whether a text holds one of the known secrets."""
        return any(secret in text for secret in self.secrets)


def get_action_log(page: BrowserPage) -> ActionLog | None:
    """Return the log of the page's session; None for pages without one."""
    return page.action_log if isinstance(page.action_log, ActionLog) else None


async def remember_action(
    scripts: PageScripts,
    outcome: "ActionOutcome",
    kind: str,
    location: "ElementLocation | None",
    values: Mapping[str, Any],
    *,
    goal: "ElementLocation | None" = None,
    looks: bool = True,
) -> None:
    """Remember an action.

    Args:
        scripts: The scripts of its page.
        outcome: Its outcome.
        kind: See `PerformedAction`.
        location: Its element, located before the action; None for keys and scrolling.
        values: Its arguments; `text` is replaced by `secret` where it may be one.
        goal: The element that something was dragged onto.
        looks: Whether to look at what the page shows now.
    """
    log = get_action_log(scripts.page)
    if log is None:
        return
    report = location.report if location else {}
    element = dict(report.get("evidence") or {}) or None
    before = PageMilestones.from_report(report.get("milestones") or {"url": scripts.page.url})
    if page := report.get("page"):  # the element is in a frame, whose address is not that of the page
        element = (element or {}) | {"frame": before.url}
        before = PageMilestones.from_report(page).add_frame(before)
    is_blocked = any(dialog.get("open", True) for dialog in outcome.dialogs)
    after = await read_milestones(scripts, location.frame if location else None) if looks and not is_blocked else None
    text = str(values.get("text", ""))
    if text and (is_secret_field(element or {}) or log.is_secret(text)):
        values = {name: value for name, value in values.items() if name != "text"} | {"secret": True}
        after = hide_secret(after, text)
    kinds = [each["type"] for each in outcome.dialogs]
    more = {name: value for name, value in {"dialogs": kinds, "new_pages": len(outcome.new_pages)}.items() if value}
    aim = goal.report.get("evidence") if goal else None
    log.add(kind, {**values, **more}, element=element, goal=aim, before=before, after=after)


@asynccontextmanager
async def remember_tool_call(scripts: PageScripts, name: str, arguments: Mapping[str, Any]) -> AsyncGenerator[None]:
    """Remember the call of a page's tool that the block makes, with the form whose presses would do the same."""
    log = get_action_log(scripts.page)
    if log is None:
        yield
        return
    before, form = await read_milestones(scripts), None
    with suppress(OutriderError, ProtocolError, ContextGone, ScriptError):
        form = await scripts.invoke(scripts.page.main, "describeFormTool", name, list(arguments))
    yield
    secrets = [key for key, value in arguments.items() if is_secret_name(key) or log.is_secret(str(value))]
    after = await read_milestones(scripts)
    for key in secrets:
        after = hide_secret(after, str(arguments[key]))
    kept = {key: value for key, value in arguments.items() if key not in secrets}
    values = {"name": name, "arguments": kept, "secrets": secrets, "form": form}
    log.add("tool", values, before=before or PageMilestones(scripts.page.url), after=after)


async def read_milestones(scripts: PageScripts, frame: Frame | None = None) -> PageMilestones | None:
    """Read what the page, and one of its frames, show now; None while the page cannot answer."""
    timeout_s = 2.0
    page: PageMilestones | None = None
    with anyio.move_on_after(timeout_s), suppress(OutriderError, ProtocolError, ContextGone, ScriptError):
        page = PageMilestones.from_report(await scripts.invoke(scripts.page.main, "readMilestones"))
        if frame is not None and frame.parent is not None:
            page = page.add_frame(PageMilestones.from_report(await scripts.invoke(frame, "readMilestones")))
    return page


def is_secret_field(element: Mapping[str, Any]) -> bool:
    """Return whether what is typed into an element must not be stored."""
    attributes = element.get("attributes") or {}
    names = (element.get("name", ""), attributes.get("name", ""), attributes.get("id", ""))
    return bool(element.get("secret")) or any(is_secret_name(str(name)) for name in names)


def hide_secret(page: PageMilestones | None, text: str) -> PageMilestones | None:
    """Leave out the messages of a page that repeat a secret."""
    if page is None:
        return None
    messages, headings = ([each for each in lines if text not in each] for lines in (page.messages, page.headings))
    title = "" if text in page.title else page.title
    return replace(page, title=title, messages=tuple(messages), headings=tuple(headings))
