"""Steps of a run for its page: grouped by model request, cut, with screenshots."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from outrider.agents.evaluations import EvaluationRecord
from outrider.agents.views.overview import RunBranch
from outrider.agents.views.step_list import StepRow
from outrider.dashboard.runs.sanitize import (
    ArgumentView,
    TextExcerpt,
    build_argument_views,
    cut_excerpt,
    excerpt_result,
    sanitize_url,
)

STEPS_PER_PART = 30  # of a part
MODEL_TEXT_BYTES, THOUGHT_BYTES, ARGUMENT_BYTES, RESULT_BYTES = (
    1_600,
    700,
    900,
    1_100,
)  # bytes of HTML


@dataclass(frozen=True)
class StepPicture:
    """A stored screenshot: its artifact and description."""

    artifact_id: str
    title: str


@dataclass(frozen=True)
class CallView:
    """A tool call on the page.

    Attributes:
        mark: Its position in the step, from 1.
        child: The run that it started.
        sources: (title, address) of the web sources that it found.
    """

    row: StepRow
    mark: int
    arguments: Sequence[ArgumentView]
    result: TextExcerpt
    pictures: Sequence[StepPicture] = ()
    files: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[tuple[str, str]] = ()
    child: RunBranch | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the arguments are longer than shown."""
        return any(each.value.is_cut for each in self.arguments)


@dataclass(frozen=True)
class StepView:
    """One model request with its calls.

    Attributes:
        said: The model's text; None if the previous part shows it.
        stamp: A value that changes with the step.
    """

    number: int
    model: StepRow | None
    said: TextExcerpt | None
    thought: TextExcerpt | None
    calls: Sequence[CallView] = ()
    extra: Sequence[StepRow] = field(default_factory=tuple)
    stamp: str = ""


def build_step_views(
    rows: Iterable[StepRow], children: Mapping[str, RunBranch], evaluation_records: Sequence["EvaluationRecord"] = ()
) -> list[StepView]:
    """Build the views of one page of steps.

    Args:
        rows: The steps in order.
        children: Runs by the call that started them.
        evaluation_records: The records of an evaluation from the same time.
    """
    return [
        _build_step_view(number, list(group), children, evaluation_records)
        for number, group in groupby(rows, lambda row: row.number)
    ]


def _build_step_view(
    number: int,
    rows: Sequence[StepRow],
    children: Mapping[str, RunBranch],
    evaluation_records: Sequence["EvaluationRecord"],
) -> StepView:
    spoken = [row for row in rows if not row.is_tool]
    model = next((row for row in spoken if row.key.startswith("model:")), None)
    tools = [row for row in rows if row.is_tool]
    calls = [
        _build_call_view(row, mark, children.get(row.key), evaluation_records) for mark, row in enumerate(tools, 1)
    ]
    facts = [(row.key, row.outcome, row.seconds) for row in rows]
    below = [(each.child.run.status, each.child.run.id) for each in calls if each.child]
    stamp = hashlib.blake2s(repr((facts, below)).encode("utf-8", "replace"), digest_size=8).hexdigest()
    return StepView(
        number,
        model,
        cut_excerpt(model.text.strip(), MODEL_TEXT_BYTES) if model else None,
        cut_excerpt(model.thoughts.strip(), THOUGHT_BYTES) if model and model.thoughts.strip() else None,
        calls,
        [row for row in spoken if row is not model],
        stamp,
    )


def _build_call_view(
    row: StepRow, mark: int, child: RunBranch | None, evaluation_records: Sequence["EvaluationRecord"]
) -> CallView:
    made = [each for each in row.files if isinstance(each, Mapping) and each.get("id")]
    pictures = [StepPicture(str(each["id"]), str(each.get("title") or "")) for each in made if _is_picture(each)]
    max_sources = 12
    found = [each for each in row.sources.values() if isinstance(each, Mapping)][:max_sources]
    links = [(str(each.get("title") or each.get("href"))[:120], sanitize_url(each.get("href"))) for each in found]
    sources = [(title, address) for title, address in links if address]
    return CallView(
        row,
        mark,
        build_argument_views(row.arguments, ARGUMENT_BYTES),
        excerpt_result(row.text, RESULT_BYTES),
        [*_find_screenshots(row, evaluation_records), *pictures],
        [each for each in made if not _is_picture(each)],
        sources,
        child,
    )


def _is_picture(file: Mapping[str, Any]) -> bool:
    picture_types = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
    return file.get("content_type") in picture_types


def _find_screenshots(row: StepRow, evaluation_records: Sequence["EvaluationRecord"]) -> list[StepPicture]:
    """Find screenshots taken before the call ended."""
    if row.ended_at is None:
        return []
    during = [each for each in evaluation_records if row.started_at <= each.at <= row.ended_at]
    agent_steps = {each.step for each in during if each.kind == "agent" and each.details.get("tool") == row.tool}
    screenshots = [
        each for each in during if each.kind == "screenshot" and each.step in agent_steps and each.artifact_id
    ]
    return [StepPicture(each.artifact_id or "", each.summary or each.url) for each in screenshots]
