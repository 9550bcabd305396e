"""The tool search, a web search with the smallest possible contract."""

import json
import re
from typing import Annotated, Any

from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.tool import Toolset
from outrider.search.provider import Query
from outrider.search.search import Search
from outrider.toolsets.parameters import NumberUpToTen

web_search_cli = Toolset("web-search", "search returns titles and addresses from the web.")

CONTROL_CHARS = re.compile(r"[\x00-\x1f\x7f]")


class CliSearchResults(BaseModel, defer_build=True):
    """Hits of a search, and the provider they are from."""

    results: list[dict[str, Any]] = Field(description="title, url, description")
    source: str = Field(description="The provider")
    query: str

    def __str__(self) -> str:
        return json.dumps(self.model_dump(), ensure_ascii=False, indent=2)


@web_search_cli.tool(title="Search", open_world=True, untrusted=True, timeout=90)
async def search(
    engines: Search,
    call: Call,
    /,
    query: Annotated[str, Field(description="Search query, 1 to 500 characters")],
    limit: NumberUpToTen = 5,
) -> CliSearchResults:
    """Search the web in a browser: titles and addresses."""
    max_query_chars = 500
    text = CONTROL_CHARS.sub("", query).strip()
    if not text:
        problem = "holds only control characters or blanks" if query else "must not be empty"
        raise InvalidInput(f"query: {problem}", hint="say what to look for")
    if len(text) > max_query_chars:
        raise InvalidInput(
            f"query: has {len(text)} characters, at most {max_query_chars} are allowed", hint="shorten it"
        )
    try:
        outcome = await engines.find(Query(text=text, count=limit, caller=call), browse=True)
    except OutriderError as error:
        raise _adapt_error(error) from None
    rows = [{"title": hit.title, "url": hit.url, "description": hit.snippet} for hit in outcome.hits]
    return CliSearchResults(results=rows, source=outcome.source, query=query)


def _adapt_error(error: OutriderError) -> OutriderError:
    """Return the error as this tool reports it: `search_blocked` when every engine refused automated searches."""
    # In a failed search only the local index can be "ok", with no hits.
    outcomes = {attempt["outcome"] for attempt in error.details.get("attempts", ())} - {
        "circuit_open",
        "unsupported",
        "ok",
    }
    code = "search_blocked" if outcomes and outcomes <= {"consent", "captcha", "blocked"} else error.code
    return type(error)(
        f"Search error: {error.message}",
        hint=error.hint,
        code=code,
        details=error.details,
        retry_after=error.retry_after,
    )
