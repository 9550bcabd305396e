"""Exa: the REST API with a key, the hosted MCP server without one.

"Search" (exa.ai/docs/reference/search) and github.com/exa-labs/exa-mcp-server, src/tools/webSearch.ts, read on
2026-11-22.

The MCP server answers a single `tools/call`; if it requires a session, the handshake of
modelcontextprotocol.io/specification/2025-06-18/basic/lifecycle is made first. Its result is text for
models: blocks that begin with `Title:`.
"""

import json
import re
from typing import Any

from outrider.core.http import HttpResponse
from outrider.search.failures import build_failure
from outrider.search.provider import (
    CallRate,
    Credential,
    ErrorRule,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    SendRequest,
    list_items,
    require_keys,
)

MCP_HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "outrider", "version": "1"},
    },
}
SESSION_REQUIRED = re.compile(rb"session|initiali[sz]e", re.IGNORECASE)
# The address must follow within three lines, because the text of a page may contain `Title:`, too.
RESULT_START = re.compile(r"^(?:#+ *)?(?:\d+[.)] *)?(?:\*\*)?Title:.*\n(?:.*\n){0,3}?\W*URL:", re.MULTILINE)
SNIPPET_FIELD = re.compile(
    r"^\W*(?:Highlights|Summary|Text|Snippet|Content):\s*(?P<value>.+)", re.MULTILINE | re.DOTALL
)
NO_RESULTS = re.compile(r"no (?:search )?results", re.IGNORECASE)
RATE_LIMITED = re.compile(r"rate.?limit|too many|quota|free.{0,20}limit|429", re.IGNORECASE)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    """Map the query to the REST request."""
    since = query.find_first_day(access.today)
    body = {
        "query": query.text,
        "numResults": query.count,
        "startPublishedDate": f"{since.isoformat()}T00:00:00.000Z" if since else None,
        "endPublishedDate": f"{query.until.isoformat()}T23:59:59.999Z" if query.until else None,
        "category": "news" if query.mode == "news" else None,
        "userLocation": query.country_code,
        "moderation": True if query.safe == "strict" else None,
        "includeDomains": query.site_hosts,
        "excludeDomains": query.excluded_hosts,
        "contents": {"highlights": True},
    }
    return ProviderRequest(f"{access.endpoint}/search", "POST", json=body, headers={"x-api-key": access.api_key})


async def send_requests(send: SendRequest, query: Query, access: ProviderAccess) -> HttpResponse:
    """Send one REST request with a key; without, one MCP tool call, after a handshake if the server asks for it."""
    if not access.keyless:
        return await send(build_request(query, access))
    reply = await send(_build_tool_call(query, access))
    if reply.status in {400, 404, 406} and SESSION_REQUIRED.search(reply.body):
        opened = await send(_build_rpc_request(MCP_HANDSHAKE, access))
        session = {name: opened.headers[name] for name in ("mcp-session-id",) if name in opened.headers}
        await send(_build_rpc_request({"jsonrpc": "2.0", "method": "notifications/initialized"}, access, session))
        reply = await send(_build_tool_call(query, access, session))
    return reply


def _build_tool_call(query: Query, access: ProviderAccess, session: dict[str, str] | None = None) -> ProviderRequest:
    arguments = {"query": query.text, "numResults": query.count}
    params = {"name": "web_search_exa", "arguments": arguments}
    return _build_rpc_request({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}, access, session)


def _build_rpc_request(
    message: dict[str, Any], access: ProviderAccess, session: dict[str, str] | None = None
) -> ProviderRequest:
    mcp_headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return ProviderRequest(f"{access.endpoint}/mcp", "POST", json=message, headers=mcp_headers | (session or {}))


def decode_reply(reply: HttpResponse) -> Any:
    """Decode REST's JSON, or a JSON-RPC message, bare or as a server-sent event."""
    text = reply.body.decode("utf-8", "replace")
    if "event-stream" in reply.content_type or text.lstrip().startswith(("event:", "data:", "id:", ":")):
        # The first response counts (html.spec.whatwg.org, server-sent events).
        for event in re.split(r"\r?\n\r?\n", text):
            lines = [line[5:].removeprefix(" ") for line in event.splitlines() if line.startswith("data:")]
            try:
                message = json.loads("\n".join(lines)) if lines else None
            except ValueError:
                raise build_failure("bad_reply", "Exa answered with a broken event") from None
            if isinstance(message, dict) and ("result" in message or "error" in message):
                return message
        raise build_failure("bad_reply", "Exa answered with events, but without a result")
    return reply.json()


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "results", "jsonrpc", name="Exa")
    if "jsonrpc" in body:
        error = body.get("error")
        result = body.get("result") if error is None else {"isError": True, "content": [{"text": str(error)}]}
        result = require_keys(result, "content", name="Exa")
        parts = [item.get("text") for item in list_items(result, "content", name="Exa")]
        text = "\n\n".join(part for part in parts if isinstance(part, str))
        if result.get("isError"):
            code = "rate_limited" if RATE_LIMITED.search(text) else "unavailable"
            raise build_failure(code, f"Exa: {text}", hint=provider.remedy)
        starts = [match.start() for match in RESULT_START.finditer(text)]
        if not starts and text.strip() and not NO_RESULTS.search(text):
            raise build_failure("bad_reply", "Exa answered in an unknown format")
        return [_parse_block(text[start:end]) for start, end in zip(starts, [*starts[1:], len(text)], strict=False)]
    return [
        {
            "title": item.get("title") or item.get("url"),
            "url": item.get("url"),
            "snippet": item.get("highlights") or item.get("summary") or item.get("text"),
            "published": item.get("publishedDate"),
            "score": item.get("score"),
        }
        for item in list_items(body, "results", name="Exa")
    ]


def _parse_block(text: str) -> ResultItem:
    text = text.strip().removesuffix("---")
    snippet = SNIPPET_FIELD.search(text)
    head = text[: snippet.start()] if snippet else text
    return {
        "title": _find_field(head, "Title"),
        "url": _find_field(head, "URL"),
        "published": _find_field(head, "Published(?: Date)?"),
        "snippet": snippet["value"] if snippet else "",
    }


def _find_field(text: str, name: str) -> str | None:
    match = re.search(rf"^\W*{name}:\W*?(?P<value>\S.*)$", text, re.MULTILINE)
    value = match["value"].strip().strip("*") if match else ""
    return None if value in {"", "N/A"} else value


provider = SearchProvider(
    name="exa",
    title="Exa",
    remedy="get a key at dashboard.exa.ai and set EXA_API_KEY",
    endpoint="https://api.exa.ai",
    keyless_endpoint="https://mcp.exa.ai",
    credentials=(Credential(aliases=("token",), env=("EXA_API_KEY",)),),
    keyless_rank=3,
    modes=frozenset({"web", "news"}),
    keyless_modes=frozenset({"web"}),
    features=frozenset({"freshness", "dates", "region", "site", "exclude", "safe"}),
    keyless_features=frozenset(),
    max_count=100,
    rate=CallRate(5, 1.0),
    keyless_rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
    decode_reply=decode_reply,
    send_requests=send_requests,
    error_rules=(ErrorRule(None, "auth", pattern="invalid.{0,10}api.?key"),),
)
