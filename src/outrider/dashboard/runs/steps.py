"""A part of a run's steps as its page shows them: grouped by request to the model, cut, with pictures beside them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from outrider.agents.evaluations import Record
from outrider.agents.oversight.overview import Branch
from outrider.agents.oversight.step_list import StepRow
from outrider.dashboard.runs.words import Argument, Excerpt, excerpt, read_by_agent, spelled_out, web_address

ROWS = 30  # of a part
SAID, THOUGHT, GIVEN, READ = 1_600, 700, 900, 1_100  # bytes of a page that each of these may take
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
SOURCES = 12


@dataclass(frozen=True)
class Picture:
    """A kept picture: its artifact, and what it shows."""

    artifact_id: str
    title: str


@dataclass(frozen=True)
class ShownCall:
    """A tool call on the page.

    Attributes:
        mark: Its place below the step, from 1.
        child: The run that it began.
        sources: (title, address) of what it found in the web.
    """

    row: StepRow
    mark: int
    arguments: Sequence[Argument]
    result: Excerpt
    pictures: Sequence[Picture] = ()
    files: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[tuple[str, str]] = ()
    child: Branch | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the arguments are longer than they are shown."""
        return any(each.value.is_cut for each in self.arguments)


@dataclass(frozen=True)
class ShownStep:
    """One request to the model with the calls that it made.

    Attributes:
        said: What it said; None where that stands in the part before.
        stamp: Another whenever something about it has changed.
    """

    number: int
    model: StepRow | None
    said: Excerpt | None
    thought: Excerpt | None
    calls: Sequence[ShownCall] = ()
    extra: Sequence[StepRow] = field(default_factory=tuple)
    stamp: str = ""


def shown_steps(
    rows: Iterable[StepRow], children: Mapping[str, Branch], seen: Sequence["Record"] = ()
) -> list[ShownStep]:
    """The steps of a part.

    Args:
        rows: In order.
        children: Runs by the call that began them.
        seen: What an evaluation's watcher saw meanwhile.
    """
    return [_step(number, list(group), children, seen) for number, group in groupby(rows, lambda row: row.number)]


def _step(number: int, rows: Sequence[StepRow], children: Mapping[str, Branch], seen: Sequence["Record"]) -> ShownStep:
    spoken = [row for row in rows if not row.is_tool]
    model = next((row for row in spoken if row.key.startswith("model:")), None)
    tools = [row for row in rows if row.is_tool]
    calls = [_call(row, mark, children.get(row.key), seen) for mark, row in enumerate(tools, 1)]
    return ShownStep(
        number,
        model,
        excerpt(model.text.strip(), SAID) if model else None,
        excerpt(model.thoughts.strip(), THOUGHT) if model and model.thoughts.strip() else None,
        calls,
        [row for row in spoken if row is not model],
        _stamp(rows, calls),
    )


def _call(row: StepRow, mark: int, child: Branch | None, seen: Sequence["Record"]) -> ShownCall:
    made = [each for each in row.files if isinstance(each, Mapping) and each.get("id")]
    pictures = [Picture(str(each["id"]), str(each.get("title") or "")) for each in made if _is_picture(each)]
    return ShownCall(
        row,
        mark,
        spelled_out(row.arguments, GIVEN),
        read_by_agent(row.text, READ),
        [*_looks(row, seen), *pictures],
        [each for each in made if not _is_picture(each)],
        _sources(row.sources),
        child,
    )


def _is_picture(file: Mapping[str, Any]) -> bool:
    return file.get("content_type") in PICTURES


def _looks(row: StepRow, seen: Sequence["Record"]) -> list[Picture]:
    """The pictures that were taken before the call was over: the watcher looks before the agent gets its result."""
    if row.ended_at is None:
        return []
    during = [each for each in seen if row.started_at <= each.at <= row.ended_at]
    mine = {each.step for each in during if each.kind == "agent" and each.details.get("tool") == row.tool}
    taken = [each for each in during if each.kind == "screenshot" and each.step in mine and each.artifact_id]
    return [Picture(each.artifact_id or "", each.summary or each.url) for each in taken]


def _sources(sources: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [each for each in sources.values() if isinstance(each, Mapping)][:SOURCES]
    links = [(str(each.get("title") or each.get("href"))[:120], web_address(each.get("href"))) for each in found]
    return [(title, address) for title, address in links if address]


def _stamp(rows: Sequence[StepRow], calls: Sequence[ShownCall]) -> str:
    facts = [(row.key, row.outcome, row.seconds) for row in rows]
    below = [(each.child.run.status, each.child.run.id) for each in calls if each.child]
    return hashlib.blake2s(repr((facts, below)).encode("utf-8", "replace"), digest_size=8).hexdigest()
