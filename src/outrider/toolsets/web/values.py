"""The tool web_extract, which extracts values from pages by a JSON schema."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from pydantic import BaseModel, Field

from outrider.content.models import ContentDraft
from outrider.core.context import Call
from outrider.core.csv_rows import format_csv
from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.jail import rename_error_field
from outrider.core.untrusted import disarm_json
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.web.tools import web
from outrider.toolsets.web.value_model import ModelReading, ValueModel
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:  # loaded at the first call
    from outrider.pages.values.value_fields import ValuePlan

MAX_SHOWN_ROWS = 100


class ExtractedValues(BaseModel, defer_build=True):
    """Values from pages with their places."""

    items: list[dict[str, Any]] = Field(description="data, url, place?, evidence: quote, place, confidence by field")
    missing: list[str] = Field(default=[], description="Fields without any value: web_fetch shows the page")
    path: str = ""
    content_ids: list[str] = Field(default=[], description="In the content store, one for each page")
    notes: list[str] = []

    def __str__(self) -> str:
        return disarm_json(json.dumps(self.model_dump(exclude_unset=True), ensure_ascii=False))


@dataclass
class ValueReader:
    """Read the pages of one call.

    Attributes:
        plan: The values to look for.
        max_pages: Pages to read, including further pages of a list.
        model: Reads values that are not in a structure, if it may be asked.
        items: The rows so far.
        notes: Pages that could not be read, and why the reading ended.
    """

    pages: Pages
    plan: "ValuePlan"
    max_pages: int
    model: ModelReading | None = None
    items: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    async def read_pages(self, urls: list[str]) -> None:
        """Read pages, and the pages that follow in a list. Raises the error of the first if all fail."""
        first_error: OutriderError | None = None
        waiting, visited = list(urls), set[str]()
        while waiting and len(visited) < max(self.max_pages, len(urls)):
            url = waiting.pop(0)
            if url in visited:
                continue
            visited.add(url)
            try:
                following = await self._read_page(url)
            except OutriderError as error:
                first_error = first_error or error
                self.notes.append(f"{url}: {error.message}")
            else:
                waiting += [following] if following and following not in visited else []
        if first_error and len(self.notes) == len(visited):
            raise first_error
        if waiting:
            self.notes.append(f"max_pages is reached; the list continues at {waiting[0]}")

    async def _read_page(self, url: str) -> str:
        """Extract the values of a page, and return the next page of its list."""
        from outrider.pages.values.extract_values import extract_values
        from outrider.pages.values.next_page import find_next_page

        page = await self.pages.read(url, ReadOptions())
        rows = await anyio.to_thread.run_sync(
            lambda: extract_values(self.plan, page.html, page.document, page.url), abandon_on_cancel=True
        )
        is_list_going_on = bool(rows) and self.plan.rows_at is not None and page.html is not None
        if self.model is not None:
            rows = await self.model.complete_rows(self.plan, rows, page)
        count = len(self.items)
        for row in rows:
            data = row.to_data(self.plan.fields)
            if data and (key := json.dumps(data, sort_keys=True)) not in self._seen:
                self._seen.add(key)
                evidence = {name: found.to_evidence() for name, found in row.values.items()}
                place = {"place": row.place} if row.place else {}
                self.items.append({"data": data, "url": page.url} | place | {"evidence": evidence})
        return find_next_page(page.html or "", page.url) if is_list_going_on and len(self.items) > count else ""


@web.tool(effect="write", title="Extract data from pages", open_world=True, untrusted=True, timeout=180)
async def web_extract(
    pages: Pages,
    workspaces: SessionWorkspaces,
    autosave: Autosave,
    value_model: ValueModel,
    call: Call,
    /,
    urls: Annotated[list[str], Field(min_length=1, max_length=20, description="Pages or documents")],
    output_schema: Annotated[
        dict[str, Any], Field(description='JSON schema of an object, or of an array of objects; or {"price": "number"}')
    ],
    max_pages: Annotated[int, Field(ge=1, le=50, description="Follow a list over this many pages")] = 1,
    filename: Annotated[str | None, Field(max_length=200, description="Workspace file, .csv or .json")] = None,
    store_id: Annotated[str | None, Field(max_length=100, description="Content store for the data")] = None,
    use_model: Annotated[
        bool, Field(description="Let the configured model find what tables and labels do not show; costs tokens")
    ] = False,
) -> ExtractedValues:
    """Extract values from pages by a JSON schema, each with its quote and place."""
    from outrider.pages.values.value_fields import build_plan

    plan = build_plan(output_schema)
    if filename is not None and not filename.lower().endswith((".csv", ".json")):
        raise InvalidInput(f"filename: {filename} is neither .csv nor .json", hint="end it with .csv or .json")
    if filename and call.grant is not None:
        call.grant.require_write_role("a file would be saved")
    model = await value_model.start_reading() if use_model else None
    reader = ValueReader(pages, plan, max_pages, model)
    await reader.read_pages(urls)
    items, notes = reader.items, [*reader.notes, *(model.describe() if model else ())]
    found = {name for item in items for name in item["evidence"]}
    report: dict[str, Any] = {"items": items[:MAX_SHOWN_ROWS]}
    if missing := [each.name for each in plan.fields if each.name not in found]:
        report["missing"] = missing
    if filename and items:
        rows = [item["data"] for item in items]
        is_csv = filename.lower().endswith(".csv")
        text = render_csv(rows, plan) if is_csv else json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
        report["path"] = await _save_text(workspaces, call, filename, text)
    if store_id is not None:
        report["content_ids"] = await _store_items(autosave, call, items, store_id)
    if len(items) > MAX_SHOWN_ROWS:
        notes.append(f"{len(items)} rows were found, {MAX_SHOWN_ROWS} are shown; give `filename` for a file of all")
    return ExtractedValues(**report, **({"notes": notes} if notes else {}))


async def _save_text(workspaces: SessionWorkspaces, call: Call, filename: str, text: str) -> str:
    """Save a text to a workspace file and return its path."""
    with rename_error_field("filename"):
        await anyio.to_thread.run_sync(
            lambda: workspaces.ensure_workspace(call).files.write_bytes(filename, text.encode("utf-8", "replace"))
        )
    return filename


async def _store_items(autosave: Autosave, call: Call, items: list[dict[str, Any]], store_id: str) -> list[str]:
    """Store each page's data as JSON, and return the ids.

    The data go into a content store.
    """
    by_page: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        by_page.setdefault(item["url"], []).append(item["data"])
    ids = []
    for url, rows in by_page.items():
        text = json.dumps(rows, ensure_ascii=False, indent=2)
        # The fragment keeps the data apart from the page itself.
        draft = ContentDraft(
            text, filename="data.json", mime_type="application/json", source=f"{url}#data", title=f"Data of {url}"
        )
        ids.append(await autosave.save_draft_to(call, draft, store_id))
    return ids


def render_csv(rows: list[dict[str, Any]], plan: "ValuePlan") -> str:
    """Return rows as CSV with a column for each field of the plan, in its order.

    Nested values have dotted names, and lists have semicolons.
    """
    return format_csv([dict(_flatten_row(row)) for row in rows], [each.name for each in plan.fields])


def _flatten_row(row: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    cells: list[tuple[str, Any]] = []
    for name, value in row.items():
        if isinstance(value, dict):
            cells += _flatten_row(value, f"{prefix}{name}.")
            continue
        cells.append(
            (
                f"{prefix}{name}",
                "; ".join(
                    json.dumps(each, ensure_ascii=False) if isinstance(each, dict) else str(each) for each in value
                )
                if isinstance(value, list)
                else value,
            )
        )
    return cells
