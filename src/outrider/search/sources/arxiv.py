"""Papers on arXiv.

"arXiv API User's Manual" and "Terms of Use for arXiv APIs" (info.arxiv.org/help/api/user-manual.html, /tou.html), read
on 2026-11-22: one call in three seconds, an Atom feed as the answer, and days of submission as a term of the query.
"""

import re
from typing import Any
from xml.etree import ElementTree as ET

from outrider.core.http import HttpResponse
from outrider.search.failures import build_failure
from outrider.search.provider import (
    CallRate,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    list_items,
    require_keys,
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    since = query.find_first_day(access.today)
    # Each word or quoted phrase is a term; stop words are left out.
    stop_words = "a an and are as at by do for from how in is it of on or the to what which who why with"
    tokens = [phrase or word for phrase, word in re.findall(r'"([^"]+)"|([^\s"()\[\]:]+)', query.text)]
    search_terms = [token for token in tokens if token.lower() not in stop_words.split()] or tokens
    terms = [f'all:"{token}"' if re.search(r"\W", token) else f"all:{token}" for token in search_terms]
    if since or query.until:
        first, last = f"{since or '1991-01-01'}".replace("-", ""), f"{query.until or access.today}".replace("-", "")
        terms.append(f"submittedDate:[{first}0000 TO {last}2359]")
    params = {
        "search_query": " AND ".join(terms),
        "start": query.offset or None,
        "max_results": query.count,
        "sortBy": "relevance",
    }
    headers = {"Accept": "application/atom+xml"}
    return ProviderRequest(f"{access.endpoint}/api/query", params=params, headers=headers)


def decode_reply(reply: HttpResponse) -> Any:
    """Decode the feed's entries; a document type, which may define entities, is refused."""
    atom = "{http://www.w3.org/2005/Atom}"
    text = reply.body.decode("utf-8", "replace")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise build_failure("bad_reply", "arXiv answered with a document type, not with a feed")
    try:
        root = ET.fromstring(text)  # noqa: S314 - without a document type nothing can expand
    except ET.ParseError:
        raise build_failure("bad_reply", "arXiv answered with a broken feed") from None
    if root.tag != f"{atom}feed":
        raise build_failure("bad_reply", "arXiv answered without a feed")
    return {
        "entries": [
            {
                **{field: entry.findtext(f"{atom}{field}") for field in ("id", "title", "summary", "published")},
                "authors": [name for author in entry.iter(f"{atom}author") if (name := author.findtext(f"{atom}name"))],
            }
            for entry in root.iter(f"{atom}entry")
        ]
    }


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    """Map the entries; an error is a single entry whose address leads to an explanation."""
    max_authors = 5
    results: list[ResultItem] = []
    for item in list_items(require_keys(body, "entries", name="arXiv"), "entries", name="arXiv"):
        address = str(item.get("id") or "")
        if "/api/errors" in address:
            raise build_failure("bad_request", f"arXiv: {item.get('summary')}")
        authors = ", ".join(item["authors"][:max_authors])
        result = {
            "title": item.get("title"),
            "url": address.replace("http://", "https://", 1),
            "snippet": [authors, item.get("summary")],
            "published": item.get("published"),
        }
        results.append(result)
    return results


source = SearchProvider(
    name="arxiv",
    title="arXiv",
    remedy="search the web with site=arxiv.org instead",
    endpoint="https://export.arxiv.org",
    keyless_rank=1,
    features=frozenset({"freshness", "dates", "page"}),
    keyless_rate=CallRate(1, 3.0),
    build_request=build_request,
    parse_results=parse_results,
    decode_reply=decode_reply,
)
