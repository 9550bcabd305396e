"""Read values from pages with the configured model, for web_extract."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread

from outrider.agents.models import ModelAccess, ModelResolver
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import OutriderError, Refused
from outrider.pages.fetched_page import FetchedPage


@dataclass(frozen=True)
class ValueModel:
    """The model that web_extract may ask.

    Attributes:
        models: Chooses the model.
        guard: Decides where requests may go.
        is_limited: Whether callers have quotas, which do not count single requests.
    """

    models: ModelResolver
    guard: EgressGuard
    is_limited: Callable[[], bool]

    async def start_reading(self) -> "ModelReading":
        """Start the reading of one call. Raises NotConfigured without a model, Refused if usage is limited."""
        if self.is_limited():
            raise Refused(
                "use_model: this server limits usage, and a single model request would not be counted",
                code="quota",
                hint="leave out `use_model`",
            )
        return ModelReading(await self.models.resolve_chain(), self.guard)


@dataclass
class ModelReading:
    """One call's questions to the model, within a budget.

    Attributes:
        chain: The model and its fallbacks.
        guard: Decides where requests may go.
        pages_left: The remaining number of pages to ask about.
        notes: The cost, omissions, and why the model was not asked.
    """

    chain: list[ModelAccess]
    guard: EgressGuard
    pages_left: int = 10
    model: str = ""
    read_tokens: int = 0
    written_tokens: int = 0
    rejected: int = 0
    problems: list[str] = field(default_factory=list)

    async def complete_rows(self, plan: Any, rows: list[Any], page: FetchedPage) -> list[Any]:
        """Return the rows of a page completed by the model: missing values of an object, or all rows of a list."""
        from outrider.agents.runtime.single_request import ask_model
        from outrider.pages.values.extract_values import ExtractedRow
        from outrider.pages.values.model_values import INSTRUCTIONS, build_question, read_answer

        max_page_chars, max_answer_tokens = 60_000, 4_000
        known = rows[0].values if rows and plan.rows_at is None else {}
        missing_fields = [each for each in plan.fields if each.name not in known and each.rows is None]
        markdown = page.document.markdown[:max_page_chars]
        if not missing_fields or not markdown.strip() or (rows and plan.rows_at is not None):
            return rows
        if self.pages_left <= 0:
            reason = "it has been asked about the maximum number of pages"
            self.problems.append(f"{page.url}: the model was not asked, because {reason}")
            return rows
        self.pages_left -= 1
        question = build_question(plan, missing_fields, markdown)
        try:
            answer = await ask_model(self.chain, self.guard, INSTRUCTIONS, question, max_tokens=max_answer_tokens)
        except OutriderError as error:
            self.problems.append(f"{page.url}: {error.message}")
            return rows
        self.model = answer.model
        self.read_tokens += answer.read_tokens
        self.written_tokens += answer.written_tokens
        found, rejected = await anyio.to_thread.run_sync(
            lambda: read_answer(plan, missing_fields, answer.text, markdown, page.url), abandon_on_cancel=True
        )
        self.rejected += rejected
        if plan.rows_at is not None:
            return found
        added = found[0].values if found else {}
        return [ExtractedRow(rows[0].place if rows else "", added | known)]

    def describe(self) -> list[str]:
        """Return notes on the model's questions and omitted parts of answers."""
        notes = (
            [f"{self.model} read {self.read_tokens:,} tokens and wrote {self.written_tokens:,}"] if self.model else []
        )
        if self.rejected:
            verb, pronoun = ("was", "it") if self.rejected == 1 else ("were", "them")
            notes.append(f"{self.rejected} of the model's values {verb} left out: the page does not state {pronoun}")
        return notes + self.problems
