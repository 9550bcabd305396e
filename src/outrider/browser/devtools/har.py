"""Export recorded requests as HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), without credentials."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from outrider.browser.devtools.request_details import RequestView, view_request
from outrider.browser.page.network import NetworkRequest


async def export_har(requests: Sequence[NetworkRequest], *, bodies: bool) -> bytes:
    """Return a HAR file of these requests.

    Args:
        requests: The requests, oldest first.
        bodies: Include response bodies, up to 5 MB in total.
    """
    body_bytes_left = 5_000_000
    entries = []
    for request in requests:
        view = await view_request(request, bodies=bodies and body_bytes_left > 0)
        body_bytes_left -= len(view.response_body.text)
        entries.append(_build_entry(view))
    creator = {"name": "Outrider", "version": version("outrider")}
    return json.dumps({"log": {"version": "1.2", "creator": creator, "entries": entries}}, ensure_ascii=False).encode()


def _build_entry(view: RequestView) -> dict[str, Any]:
    request = view.request
    total = request.milliseconds or 0.0
    phases = {name: view.timing.get(name, -1) for name in ("dns", "connect", "ssl")}
    phases |= {name: view.timing.get(name, 0) for name in ("send", "wait")}
    # The TLS handshake is a part of `connect`, so it is not added.
    known = sum(value for name, value in phases.items() if value > 0 and name != "ssl")
    return {
        "startedDateTime": datetime.fromtimestamp(request.at, UTC).isoformat(timespec="milliseconds"),
        "time": total,
        "request": _build_request(view),
        "response": _build_response(view),
        "cache": {},
        "timings": {"blocked": -1} | phases | {"receive": max(round(total - known, 1), 0)},
        "_resourceType": request.kind,
        **({"_error": request.error} if request.error else {}),
    }


def _build_request(view: RequestView) -> dict[str, Any]:
    query = parse_qsl(urlsplit(view.url).query, keep_blank_values=True)
    request: dict[str, Any] = {
        "method": view.request.method,
        "url": view.url,
        "httpVersion": view.protocol or "unknown",
        "cookies": [],
        "headers": _build_pairs(view.request_headers),
        "queryString": [{"name": name, "value": value} for name, value in query],
        "headersSize": -1,
        "bodySize": view.request_body.size,
    }
    if view.request_body.text:
        mime_type = next((v for name, v in view.request_headers.items() if name.lower() == "content-type"), "")
        request["postData"] = {"mimeType": mime_type, "text": view.request_body.text}
    return request


def _build_response(view: RequestView) -> dict[str, Any]:
    headers = view.response_headers
    content: dict[str, Any] = {"size": view.response_body.size or (view.request.size or 0), "mimeType": view.mime_type}
    if view.response_body.text:
        content["text"] = view.response_body.text
    return {
        "status": view.request.status or 0,
        "statusText": "",
        "httpVersion": view.protocol or "unknown",
        "cookies": [],
        "headers": _build_pairs(headers),
        "content": content,
        "redirectURL": next((value for name, value in headers.items() if name.lower() == "location"), ""),
        "headersSize": -1,
        "bodySize": -1 if view.request.size is None else view.request.size,
    }


def _build_pairs(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]
