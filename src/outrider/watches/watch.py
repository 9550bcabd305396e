"""Watches, their targets, and their changes."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from outrider.watches.host_state import HostState

WatchKind = Literal["page", "query", "fields"]
WatchState = Literal["active", "paused"]
WatchFilter = Literal["all", "active", "paused", "failing"]


@dataclass(frozen=True)
class WatchTarget:
    """The target of a watch: a page, a search, or values of a page.

    Attributes:
        url: The page; empty for a search.
        query: The words of a search.
        fields: The schema of the values.
    """

    url: str = ""
    query: str = ""
    fields: Mapping[str, Any] | None = None

    @property
    def kind(self) -> WatchKind:
        """The kind of target."""
        if self.query:
            return "query"
        return "page" if self.fields is None else "fields"

    @property
    def host(self) -> str:
        """The host of the page; empty for a search."""
        return urlsplit(self.url).netloc[:255]

    @property
    def label(self) -> str:
        """The address, or the words of the search."""
        return self.query or self.url


@dataclass(frozen=True)
class WatchDraft:
    """A watch to be added; see `Watch`."""

    target: WatchTarget
    schedule: str
    name: str = ""
    notify: tuple[str, ...] = ()
    strict: bool = False


@dataclass(frozen=True)
class Reading:
    """The result of a look.

    Attributes:
        text: Lines of text.
        title: The title of the page.
        url: Its address after redirects.
        crawl_delay_s: The seconds between two requests that its host demands.
    """

    text: str
    title: str = ""
    url: str = ""
    crawl_delay_s: float = 0.0


ReadTarget = Callable[[WatchTarget], Awaitable[Reading]]


@dataclass(frozen=True)
class Watch:
    """A stored watch.

    Attributes:
        id: Its id.
        owner: Its owner.
        name: Its name, or the target's label.
        target: What it looks at.
        schedule: When it looks.
        strict: Whether dates, times, counters and the order of lines are changes, too.
        notify: Names of the notices sent after a change.
        state: Whether it is active or paused.
        next_at, looked_at, changed_at: Seconds since the epoch; 0 is never.
        looks, changes: Their counts so far; a change's number is the count at that time.
        failures: Consecutive failed looks.
        problem: Why the last look failed.
        title: The page's title at the last look.
    """

    id: str
    owner: str
    name: str
    target: WatchTarget
    schedule: str
    strict: bool
    notify: tuple[str, ...]
    state: WatchState
    created_at: float
    next_at: float
    looked_at: float
    changed_at: float
    looks: int
    changes: int
    failures: int
    problem: str
    title: str


@dataclass(frozen=True)
class Change:
    """One entry of a watch's history.

    Attributes:
        watch: The watch's id.
        number: From 1.
        at: When it was seen, in seconds since the epoch.
        kind: `changed`, or `problem` for a target that failed several times in a row.
        url: The page; empty for a search.
        summary: The change in one line.
        difference: The changed lines, which are text of the page.
    """

    watch: str
    number: int
    at: float
    kind: str
    url: str
    summary: str
    difference: str


@dataclass(frozen=True)
class ClaimedWatch:
    """A watch claimed by this process.

    Attributes:
        text: The last seen text; None before the first look.
        host: The state of its host.
    """

    watch: Watch
    text: str | None = field(repr=False)
    host: HostState
