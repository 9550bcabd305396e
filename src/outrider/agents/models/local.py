"""Looks for a model on this machine: all the common servers list theirs under `/v1/models`."""

from contextlib import suppress
from typing import Any

from outrider.core.errors import OutriderError
from outrider.core.http import Http, Limits

PATIENCE = Limits(seconds=1.0, body=1_000_000, redirects=0)
# Names of models that answer nothing: they only turn text into numbers.
SILENT = ("embed", "rerank", "bge-", "minilm")


async def served(http: Http, base_url: str) -> str:
    """The first model that the endpoint serves, or an empty text."""
    with suppress(OutriderError, ValueError, TypeError, KeyError):
        reply = await http.get(f"{base_url.rstrip('/')}/models", limits=PATIENCE, trusted=True)
        listed: Any = reply.json() if reply.status == 200 else {}
        names = [str(each["id"]) for each in listed.get("data") or ()]
        return next((name for name in names if not any(word in name.lower() for word in SILENT)), "")
    return ""
