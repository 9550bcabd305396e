"""Describe the outcome of an action for models and for programs."""

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
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from outrider.browser.snapshot.outline import find_refs

if TYPE_CHECKING:
    from outrider.browser.actions.locate import ElementLocation


@dataclass
class ActionOutcome:
    """The outcome of an action that was done.

    Attributes:
        action: `click`, `type` …
        element: The element, for instance `e5 <button#save> "Save"`.
        ref: The element's reference.
        note: Anything else worth knowing: nothing had to be done, the value is not valid.
        navigated: Whether the page shows another document now.
        url: The address afterwards.
        moved: Whether the address has changed, with or without another document.
        new_pages: Addresses of pages that were opened.
        dialogs: Dialogs that opened: type, message.
        downloads: Suggested file names of downloads that started.
        errors: Exceptions that the page threw and requests that failed in the meantime.
        focused: The element that has got the focus.
        value: The field's value now; never a secret.
        changes: The difference since the last snapshot, or a new snapshot; empty if nothing changed.
        facts: The element's rect and viewport, for programs.
        location: Where the element was found.
        selector: The caller's selector.
    """

    action: str
    element: str
    ref: str = ""
    note: str = ""
    navigated: bool = False
    url: str = ""
    moved: bool = False
    new_pages: list[str] = field(default_factory=list)
    dialogs: list[dict[str, Any]] = field(default_factory=list)
    downloads: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    focused: str = ""
    value: str | None = None
    changes: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    location: "ElementLocation | None" = None
    selector: str = ""

    @property
    def short_element(self) -> str:
        """The element without its tag if it has a name; empty if the caller named its reference."""
        if not self.changes:
            return self.element
        return "" if self.ref and self.selector == self.ref else _shorten_element(self.element)

    @property
    def has_effect(self) -> bool:
        """Whether anything is known that the action caused."""
        effects = (self.navigated, self.moved, self.new_pages, self.dialogs, self.downloads, self.errors, self.changes)
        return any(effects) or bool(self.focused)

    @property
    def new_focus(self) -> str:
        """The other element that has got the focus.

        Only its reference is given if the changes show it.
        """
        ref = self.focused.partition(" ")[0]
        if self.focused == self.element or (ref and ref == self.ref):
            return ""
        if ref in find_refs(self.changes):
            return ref
        name = self.focused.partition("> ")[2]
        if name and self.element.endswith(f"> {name}"):  # the field of the pressed label or box
            return ""
        return _shorten_element(self.focused)

    @property
    def new_address(self) -> str:
        """The address if it has changed; without the site, which only another document can change."""
        if self.navigated:
            return self.url
        return self.url[len(urljoin(self.url, "/")) - 1 :] or self.url if self.moved else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON.

        `ok` and `navigated` are always there; other empty fields are left out.
        """
        known = {"ok": True, "action": self.action, "clicked" if self.action == "click" else "element": self.element}
        rest = {
            "ref": self.ref,
            "note": self.note,
            "newPages": self.new_pages,
            "dialogs": self.dialogs,
            "downloads": self.downloads,
            "errors": self.errors,
            "focused": self.focused,
            "value": self.value,
            "changes": self.changes,
        }
        return (
            known | {"navigated": self.navigated, "url": self.url} | {k: v for k, v in rest.items() if v} | self.facts
        )

    def __str__(self) -> str:
        past_tenses = {
            "click": "clicked",
            "hover": "hovering over",
            "drag": "dragged",
            "type": "typed into",
            "check": "checked",
            "uncheck": "unchecked",
            "select": "selected in",
            "upload": "gave files to",
            "press": "pressed",
            "fill": "filled",
            "down": "holding down",
            "up": "released",
            "move": "moved",
            "wheel": "turned the wheel",
            "scroll": "scrolled",
        }
        done = past_tenses.get(self.action, self.action)
        head = f"{done} {self.short_element}" if self.short_element else done.partition(" ")[0]
        lines = [head + (f": {self.note}" if self.note else "")]
        if self.moved and not self.navigated:
            lines.append(f"the address is now {self.new_address[:300]}")
        lines += _limit_lines([f"opened a new page: {url[:300]}" for url in self.new_pages])
        dialogs = [
            f"{'an' if dialog['type'] == 'alert' else 'a'} {dialog['type']} dialog says: {dialog['message'][:500]}"
            for dialog in self.dialogs
        ]
        lines += _limit_lines(dialogs)
        lines += _limit_lines([f"download: {name}" for name in self.downloads])
        lines += _limit_lines(self.errors)
        lines += [f"focus: {self.new_focus}"] if self.new_focus else []
        lines += [f"value: {self.value}"] if self.value is not None and (self.note or not self.changes) else []
        lines += [self.changes] if self.changes else []
        return "\n".join(lines)


def _shorten_element(text: str) -> str:
    """Return `e5 "Save"` for `e5 <button#save> "Save"`; leave an element without a name unchanged."""
    head, _, name = text.partition("> ")
    return f"{head.partition(' ')[0]} {name}" if name.startswith('"') else text


def _limit_lines(lines: list[str]) -> list[str]:
    """Return at most five lines of one kind, and how many more there are."""
    max_lines = 5
    return lines if len(lines) <= max_lines else [*lines[:max_lines], f"… and {len(lines) - max_lines} more"]


@dataclass(frozen=True)
class PageMilestones:
    """The address, title and messages of a page at one moment.

    Attributes:
        url: The address.
        title: The document's title.
        headings: Its first headings of the two highest levels.
        messages: Texts of alerts, status lines and dialogs.
        alerts: The messages that are alerts, such as errors.
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
        """Return the page's milestones with a frame's headings and messages."""
        headings, messages = self.headings + frame.headings, self.messages + frame.messages
        return replace(self, headings=headings, messages=messages, alerts=self.alerts + frame.alerts)


@dataclass(frozen=True)
class PerformedAction:
    """An action that was done.

    Attributes:
        number: Its number in the session, from 1.
        kind: `open`, `click`, `fill`, `select`, `check`, `uncheck`, `press`, `hover`, `drag`, `upload`, `scroll`,
            `wait`, `dialog`, `tab`, `back`, `forward`, `reload`, or `tool` for one that the page offers.
        values: Its arguments; a secret text is replaced by `secret` with the value True.
        element: The evidence of its element: see `scripts/evidence.js`; `frame` is the address of the frame around it.
        goal: The evidence of the element that it was dragged onto.
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
        secrets: Texts that are recorded as secrets, whichever field they are typed into.
        staged: Workspace paths of uploaded files, by the path of our copy.
    """

    def __init__(self) -> None:
        max_actions = 500
        self.total = 0
        self.is_approved = False
        self.secrets: set[str] = set()
        self.staged: dict[str, str] = {}
        self._actions: deque[PerformedAction] = deque(maxlen=max_actions)

    def add(self, kind: str, values: Mapping[str, Any] | None = None, **evidence: Any) -> None:
        """Add an action; `evidence` are further fields of `PerformedAction`."""
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
    values: Mapping[str, Any],
    *,
    goal: "ElementLocation | None" = None,
    looks: bool = True,
) -> None:
    """Remember an action.

    Args:
        scripts: The scripts of its page.
        outcome: Its outcome, with the element as it was located before the action.
        kind: See `PerformedAction`.
        values: Its arguments; empty ones are left out, and `text` is replaced by `secret` where it may be one.
        goal: The element that something was dragged onto.
        looks: Whether to look at what the page shows now.
    """
    log = get_action_log(scripts.page)
    if log is None:
        return
    location = outcome.location
    report = location.report if location else {}
    values = {name: value for name, value in values.items() if value not in (None, False, 0.0, [], "")}
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
    """Remember the call of a page's tool that the block makes.

    Its form is remembered, too, because pressing there would do the same.
    """
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
    public_arguments = {key: value for key, value in arguments.items() if key not in secrets}
    values = {"name": name, "arguments": public_arguments, "secrets": secrets, "form": form}
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
    """Return whether text typed into an element must not be stored."""
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
