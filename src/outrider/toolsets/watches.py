"""The tool `web_watch`, which checks pages and reports changes.

It also watches searches and values.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.core.context import Call
from outrider.core.egress.target import parse_target
from outrider.core.errors import InvalidInput
from outrider.core.result import Result, TextBlock
from outrider.core.tool import Toolset
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import check_offset
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES
from outrider.watches.watch import Change, Watch, WatchDraft, WatchTarget
from outrider.watches.watcher import Watcher

if TYPE_CHECKING:  # loads SQLAlchemy
    from outrider.watches.watch_engine import WatchEngine

MAX_WAIT_S = 600

watches = Toolset(
    "watches",
    "web_watch reports what changes on pages and in searches.",
    usual_names=USUAL_TOOL_NAMES["watches"],
)
WatchAction = Literal["list", "changes", "add", "look", "pause", "resume", "remove"]


@dataclass
class WatchReport:
    """The result of a call: facts as data, and as lines of text."""

    lines: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def to_result(self) -> Result:
        """Return the tool's result."""
        return Result((TextBlock("\n".join(self.lines)),), data=self.data)


@dataclass(frozen=True)
class CallerWatches:
    """The watches of one call's person."""

    engine: "WatchEngine"
    options: ToolOptions
    owner: str

    async def list_watches(self, offset: int, limit: int) -> WatchReport:
        """List the watches, the last changed first."""
        found, total = await self.engine.store.list_watches(self.owner, offset=offset, limit=limit)
        check_offset(offset, total, "the list", "watches")
        notes = await self.engine.store.count_failed_notices(self.owner)
        lines = [f"{total} watch{'' if total == 1 else 'es'}." if total else "There are no watches yet.", *notes]
        lines += [_format_watch(watch) for watch in found]
        data: dict[str, Any] = {"watches": [describe_watch(watch) for watch in found], "total": total}
        if offset + limit < total:
            data["next_offset"] = offset + limit
            lines.append(f"(more: call with offset={offset + limit})")
        return WatchReport(lines, data | ({"notes": notes} if notes else {}))

    async def list_changes(self, watch: Watch | None, since: str, limit: int, wait_s: float) -> WatchReport:
        """List changes, newest first; with `wait_s` wait for one that comes after the call."""
        store, poll_interval_s = self.engine.store, 1.0
        found: list[Change] = []
        if wait_s:
            begin = store.clock()
            with anyio.move_on_after(wait_s):
                while not found:
                    await anyio.sleep(poll_interval_s)
                    found = await store.list_changes(self.owner, watch, since=begin, limit=limit)
        else:
            found = await store.list_changes(self.owner, watch, since=_parse_time(since), limit=limit)
        return self.report_changes(found, "nothing has changed")

    def report_changes(self, found: list[Change], nothing: str) -> WatchReport:
        """Report changes, or that there are none."""
        lines = [nothing + "."] if not found else []
        for change in found:
            lines.append(f"{_format_time(change.at)} {change.watch} {change.url}: {change.summary}")
            if change.difference:
                lines.append(self.options.mark_untrusted(change.difference, change.url or change.watch))
        return WatchReport(lines, {"changes": [describe_change(change) for change in found]})

    async def add_watch(self, draft: WatchDraft) -> WatchReport:
        """Add a watch after a first look."""
        watch = await self.engine.add_watch(self.owner, draft)
        state = "was read for the first time" if watch.looked_at else "could not be read yet and is tried again soon"
        lines = [f"Watching {_format_watch(watch)}", f"Note: it {state}; from now on changes are listed."]
        return WatchReport(lines, {"watches": [describe_watch(watch)]})

    async def apply_action(self, action: WatchAction, watch: Watch) -> WatchReport:
        """Check a watch now, or pause, resume or remove it."""
        if action == "look":
            change, problem = await self.engine.look_now(watch)
            report = self.report_changes([change] if change else [], problem or "Nothing has changed")
            return WatchReport(report.lines, report.data | ({"problem": problem} if problem else {}))
        words = {"pause": "Paused", "resume": "Resumed", "remove": "Removed"}
        steps = {
            "pause": self.engine.pause_watch,
            "resume": self.engine.resume_watch,
            "remove": self.engine.store.remove_watch,
        }
        await steps[action](watch)
        return WatchReport([f"{words[action]} {watch.id}: {watch.name}"], {"id": watch.id})


@watches.tool(
    effect="act", stake="low", title="Watch pages for changes", open_world=True, untrusted=True, timeout=MAX_WAIT_S + 60
)
async def web_watch(
    watcher: Watcher,
    options: ToolOptions,
    call: Call,
    /,
    action: WatchAction = "list",
    url: Annotated[str | None, Field(max_length=8_000, description="add: the page")] = None,
    query: Annotated[str | None, Field(max_length=1_000, description="add: a search, for new results")] = None,
    fields: Annotated[
        dict[str, Any] | None, Field(description='add: values of the page, e.g. {"price": "number"}')
    ] = None,
    every: Annotated[str, Field(max_length=100, description='"30m", "6h", "1d", or a cron line')] = "1d",
    name: Annotated[str | None, Field(max_length=200)] = None,
    notify: Annotated[list[str] | None, Field(max_length=10, description="Notices the operator configured")] = None,
    strict: Annotated[bool, Field(description="Dates and counters count as changes")] = False,
    id: Annotated[str | None, Field(max_length=300, description="The watch; not for add and list")] = None,
    since: Annotated[str, Field(max_length=40, description="changes: after this ISO time")] = "",
    wait_seconds: Annotated[int, Field(ge=0, le=MAX_WAIT_S, description="changes: wait for the next one")] = 0,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Annotated[int, Field(ge=0)] = 0,
) -> Result:
    """Check a page, a search or values on a schedule, and list what changed."""
    caller = CallerWatches(watcher.engine, options, call.owner_folder)
    if action == "add":
        target = _build_target(url, query, fields)
        draft = WatchDraft(target, every, (name or "").strip(), tuple(dict.fromkeys(notify or ())), strict)
        return (await caller.add_watch(draft)).to_result()
    if action == "list":
        return (await caller.list_watches(offset, limit)).to_result()
    watch = await caller.engine.store.find_watch(caller.owner, id) if id else None
    if action == "changes":
        return (await caller.list_changes(watch, since, limit, wait_seconds)).to_result()
    if watch is None:
        raise InvalidInput(f"id: action={action} needs a watch", hint="give the id that action=list shows")
    return (await caller.apply_action(action, watch)).to_result()


def _build_target(url: str | None, query: str | None, fields: dict[str, Any] | None) -> WatchTarget:
    """Return the target of a new watch. Raises InvalidInput."""
    from outrider.pages.values.value_fields import build_plan

    address, words = (url or "").strip(), (query or "").strip()
    if bool(address) == bool(words):
        raise InvalidInput(
            "url, query: give exactly one of them", hint="url of the page, or query for new results of a search"
        )
    if words:
        if fields:
            raise InvalidInput("fields: are values of a page, not of a search", hint="give url, or leave out fields")
        return WatchTarget(query=words)
    if fields is not None:
        build_plan(fields)
    try:
        return WatchTarget(url=parse_target(address).url, fields=fields)
    except InvalidInput as error:
        error.message = f"url: {error.message}"
        raise


def describe_watch(watch: Watch) -> dict[str, Any]:
    """Return a watch as JSON, without empty fields."""
    facts: dict[str, Any] = {
        "id": watch.id,
        "name": watch.name,
        "kind": watch.target.kind,
        "url": watch.target.url,
        "query": watch.target.query,
        "fields": watch.target.fields,
        "every": watch.schedule,
        "state": watch.state,
        "strict": watch.strict,
        "notify": list(watch.notify),
        "looks": watch.looks,
        "changes": watch.changes,
        "looked_at": _format_time(watch.looked_at),
        "changed_at": _format_time(watch.changed_at),
        "next_at": _format_time(watch.next_at) if watch.state == "active" else "",
        "failures": watch.failures,
        "problem": watch.problem,
    }
    return {name: fact for name, fact in facts.items() if fact or name in ("looks", "changes")}


def describe_change(change: Change) -> dict[str, Any]:
    """Return a change as JSON."""
    return vars(change) | {"at": _format_time(change.at)}


def _format_watch(watch: Watch) -> str:
    facts = [f"every {watch.schedule}" if len(watch.schedule.split()) == 1 else watch.schedule]
    facts += [f"{watch.changes} changes"] if watch.changes else []
    facts += [f"last {_format_time(watch.changed_at)}"] if watch.changed_at else []
    facts += [watch.state] if watch.state != "active" else []
    facts += [f"problem: {watch.problem}"] if watch.problem else []
    label = watch.target.label if watch.name == watch.target.label else f"{watch.name} {watch.target.label}"
    return f"- {watch.id} {label} ({', '.join(facts)})"


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""


def _parse_time(text: str) -> float:
    """Return the seconds since the epoch of an ISO time; 0 for an empty one. Raises InvalidInput."""
    if not text.strip():
        return 0.0
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"since: {text!r} is not an ISO time", hint="give one like 2026-05-01T09:00:00Z") from None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
