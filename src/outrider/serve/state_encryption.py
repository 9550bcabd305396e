"""Encrypt the state of paused calls.

Clients send it back but cannot read or change it.

The SDK encrypts it (AES-256-GCM) and checks tool, arguments, server, time and principal when it comes back. This module
provides the principal and the time limit; `state_codec` provides the key.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.request_state import RequestStateSecurity

from outrider.serve.context import get_caller, read_header, read_person
from outrider.serve.state_codec import StateCodec


def build_state_security(key: str, folder: Path, *, hours: float = 168) -> RequestStateSecurity:
    """Build the SDK's configuration of request state.

    Args:
        key: At least 32 bytes, the same for all replicas; empty uses this machine's key, created at first use.
        folder: The folder of this machine's key, which only its owner can read.
        hours: Maximum time until a call is answered; longer than any run.
    """
    codec = StateCodec(key, folder)
    return RequestStateSecurity(codec=codec, ttl=hours * 3600, bind_principal=identify_principal)


def identify_principal(context: ServerRequestContext[Any, Any]) -> str:
    """Return the caller's credential, person and conversation as one text.

    The person is the one for whom the caller acts.
    """
    meta: Mapping[str, Any] = context.meta or {}
    if caller := get_caller(context):  # by name, because their token may have been renewed
        return "\x1f".join((caller.principal.name, str(meta.get("session_id") or "")))
    credential = hashlib.sha256((read_header(context, "authorization") or "").encode("utf-8", "replace")).hexdigest()
    return "\x1f".join((credential, read_person(context) or "", str(meta.get("session_id") or "")))
