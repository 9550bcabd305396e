"""Remember what was done successfully in a session, with the evidence of each element."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from outrider.browser.protocol.redact import record_url

MAX_ACTIONS = 500


@dataclass(frozen=True)
class PageMilestones:
    """The address, title and messages of a page at one moment.

    Attributes:
        url: The address.
        title: The document's title.
        headings: Its first headings of the two highest levels.
        messages: Texts of alerts, status lines and dialogs.
        needs_person: Whether it asks for a password or shows a challenge.
    """

    url: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    needs_person: bool = False

    @classmethod
    def from_report(cls, report: Mapping[str, Any]) -> "PageMilestones":
        """Build them from the report of `scripts/evidence.js`."""
        headings, messages = (tuple(map(str, report.get(name, ()))) for name in ("headings", "messages"))
        url, title = record_url(str(report.get("url", ""))), str(report.get("title", ""))
        return cls(url, title, headings, messages, bool(report.get("person")))


@dataclass(frozen=True)
class PerformedAction:
    """An action that was done.

    Attributes:
        number: Its number in the session, from 1.
        kind: `open`, `click`, `fill`, `select`, `check`, `uncheck`, `press`, `hover`, `drag`, `upload`, `scroll`,
            `wait`, `dialog`, `tab`, `back`, `forward` or `reload`.
        values: Its arguments. A secret text is not among them; `secret` is True in its place.
        element: The evidence of its element: see `scripts/evidence.js`.
        goal: The evidence of the element that something was dragged onto.
        before: The page before it.
        after: The page after it; None if nobody looked.
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
        self.total = 0
        self.is_approved = False
        self.secrets: set[str] = set()
        self.staged: dict[str, str] = {}
        self._actions: deque[PerformedAction] = deque(maxlen=MAX_ACTIONS)

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
