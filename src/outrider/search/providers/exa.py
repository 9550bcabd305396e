"""Exa: the REST API with a key (docs.exa.ai/reference/search), the hosted MCP server without one.

The MCP server answers a lone `tools/call`; should it ask for a session, the handshake of
modelcontextprotocol.io/specification/2025-06-18/basic/lifecycle is made first. Its result is text for
models: blocks that begin with `Title:`.
"""

import json
import re
from datetime import timedelta
from typing import Any

from outrider.core.http import Reply
from outrider.search.failures import failure
from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rate, Rule, Send, expect, items

DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "outrider", "version": "1"},
    },
}
WANTS_SESSION = re.compile(rb"session|initiali[sz]e", re.IGNORECASE)
BLOCK = re.compile(r"^(?:#+ *)?(?:\d+[.)] *)?(?:\*\*)?Title:", re.MULTILINE)
FIELD = r"^\W*{name}:\W*?(?P<value>\S.*)$"
TEXT = re.compile(r"^\W*(?:Highlights|Summary|Text|Snippet|Content):\s*(?P<value>.+)", re.MULTILINE | re.DOTALL)
NOTHING = re.compile(r"no (?:search )?results", re.IGNORECASE)
LIMITED = re.compile(r"rate.?limit|too many|quota|free.{0,20}limit|429", re.IGNORECASE)


def ask(query: Query, access: Access) -> Ask:
    """The REST request."""
    since = access.today - timedelta(days=DAYS[query.freshness]) if query.freshness else None
    body = {
        "query": query.text,
        "numResults": query.count,
        "startPublishedDate": f"{since.isoformat()}T00:00:00.000Z" if since else None,
        "userLocation": query.country,
        "includeDomains": [query.site] if query.site else None,
        "contents": {"highlights": True},
    }
    return Ask(f"{access.endpoint}/search", "POST", json=body, headers={"x-api-key": access.key})


async def call(send: Send, query: Query, access: Access) -> "Reply":
    """With a key one REST request; without, one MCP tool call, after a handshake if it is asked for."""
    if not access.keyless:
        return await send(ask(query, access))
    reply = await send(_tool_call(query, access))
    if reply.status in {400, 404, 406} and WANTS_SESSION.search(reply.body):
        opened = await send(_rpc(HANDSHAKE, access))
        session = {name: opened.headers[name] for name in ("mcp-session-id",) if name in opened.headers}
        await send(_rpc({"jsonrpc": "2.0", "method": "notifications/initialized"}, access, session))
        reply = await send(_tool_call(query, access, session))
    return reply


def _tool_call(query: Query, access: Access, session: dict[str, str] | None = None) -> Ask:
    arguments = {"query": query.text, "numResults": query.count}
    params = {"name": "web_search_exa", "arguments": arguments}
    return _rpc({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}, access, session)


def _rpc(message: dict[str, Any], access: Access, session: dict[str, str] | None = None) -> Ask:
    return Ask(f"{access.endpoint}/mcp", "POST", json=message, headers=MCP_HEADERS | (session or {}))


def decode(reply: "Reply") -> Any:
    """REST's JSON as it is; a JSON-RPC message, bare or as a server-sent event, as its text."""
    text = reply.body.decode("utf-8", "replace")
    if "event-stream" in reply.content_type or text.lstrip().startswith(("event:", "data:", "id:", ":")):
        return _message(text)
    return reply.json()


def _message(stream: str) -> Any:
    """The first response in an event stream (html.spec.whatwg.org, server-sent events)."""
    for event in re.split(r"\r?\n\r?\n", stream):
        lines = [line[5:].removeprefix(" ") for line in event.splitlines() if line.startswith("data:")]
        try:
            message = json.loads("\n".join(lines)) if lines else None
        except ValueError:
            raise failure("bad_reply", "Exa answered with a broken event") from None
        if isinstance(message, dict) and ("result" in message or "error" in message):
            return message
    raise failure("bad_reply", "Exa answered with events, but with no result")


def read(body: Any, _query: Query) -> list[Item]:
    body = expect(body, "results", "jsonrpc", name="Exa")
    if "jsonrpc" in body:
        return _read_text(_text(body))
    return [
        {
            "title": item.get("title") or item.get("url"),
            "url": item.get("url"),
            "snippet": item.get("highlights") or item.get("summary") or item.get("text"),
            "published": item.get("publishedDate"),
            "score": item.get("score"),
        }
        for item in items(body, "results", name="Exa")
    ]


def _text(message: dict[str, Any]) -> str:
    """The tool's text. Raises the failure that the protocol or the tool tells of."""
    error = message.get("error")
    result = message.get("result") if error is None else {"isError": True, "content": [{"text": str(error)}]}
    result = expect(result, "content", name="Exa")
    parts = [item.get("text") for item in items(result, "content", name="Exa")]
    text = "\n\n".join(part for part in parts if isinstance(part, str))
    if result.get("isError"):
        code = "rate_limited" if LIMITED.search(text) else "unavailable"
        raise failure(code, f"Exa: {text}", hint=provider.remedy)
    return text


def _read_text(text: str) -> list[Item]:
    starts = [found.start() for found in BLOCK.finditer(text)]
    if not starts and text.strip() and not NOTHING.search(text):
        raise failure("bad_reply", "Exa answered in an unknown shape")
    ends = [*starts[1:], len(text)]
    return [_block(text[start:end]) for start, end in zip(starts, ends, strict=False)]


def _block(text: str) -> Item:
    text = text.strip().removesuffix("---")
    snippet = TEXT.search(text)
    head = text[: snippet.start()] if snippet else text
    return {
        "title": _field(head, "Title"),
        "url": _field(head, "URL"),
        "published": _field(head, "Published(?: Date)?"),
        "snippet": snippet["value"] if snippet else "",
    }


def _field(text: str, name: str) -> str | None:
    found = re.search(FIELD.format(name=name), text, re.MULTILINE)
    value = found["value"].strip().strip("*") if found else ""
    return None if value in {"", "N/A"} else value


provider = Provider(
    name="exa",
    title="Exa",
    remedy="get a key at dashboard.exa.ai and set EXA_API_KEY",
    endpoint="https://api.exa.ai",
    keyless_endpoint="https://mcp.exa.ai",
    credentials=(Credential(aliases=("token",), env=("EXA_API_KEY",)),),
    keyless=4,
    features=frozenset({"freshness", "region", "site"}),
    keyless_features=frozenset(),
    max_count=100,
    rate=Rate(5, 1.0),
    keyless_rate=Rate(1, 1.0),
    ask=ask,
    read=read,
    decode=decode,
    call=call,
    rules=(Rule(None, "auth", words="invalid.{0,10}api.?key"),),
)
