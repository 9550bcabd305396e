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
    """What a watch looks at: a page, a search, or values of a page.

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
        """What kind of target it is."""
        if self.query:
            return "query"
        return "page" if self.fields is None else "fields"

    @property
    def host(self) -> str:
        """The host that is asked; empty for a search."""
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
    """What a look has read.

    Attributes:
        text: Lines of text.
        title: The title of the page.
        url: Its address after redirects.
        crawl_delay_s: The seconds that its host wants between two requests.
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
        owner: Whose it is.
        name: Its name, or the target's label.
        target: What it looks at.
        schedule: When.
        strict: Whether dates, times, counters and the order of lines count as changes.
        notify: Names of the notices sent after a change.
        state: Whether it looks.
        next_at, looked_at, changed_at: Seconds since the epoch; 0 is never.
        looks, changes: How many there were; a change's number is the count at that time.
        failures: Failed looks in a row.
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
        at: When it was seen.
        kind: `changed`, or `problem` for a target that could not be read several times in a row.
        url: The page; empty for a search.
        summary: What happened, in a line.
        difference: The changed lines: text of the page.
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
    """A watch that this process looks at.

    Attributes:
        text: The text that was seen last; None before the first look.
        host: What is known of its host.
    """

    watch: Watch
    text: str | None = field(repr=False)
    host: HostState
