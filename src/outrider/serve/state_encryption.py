"""Encrypt the state of paused calls, which clients send back but cannot read or change.

The SDK encrypts it (AES-256-GCM) and checks tool, arguments, server, time and principal when it comes back. This module
provides the key, the principal and the time limit.
"""

import hashlib
import logging
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from outrider.serve.context import get_caller, read_header, read_person

log = logging.getLogger(__name__)


def build_state_security(key: str, folder: Path, *, hours: float = 168) -> RequestStateSecurity:
    """Build the SDK's configuration of request state.

    Args:
        key: At least 32 bytes, the same for all replicas; empty uses this machine's key, created at first use.
        folder: The folder of this machine's key, which only its owner can read.
        hours: Maximum time until a call is answered; longer than any run.
    """
    codec = build_state_codec(key, folder)
    return RequestStateSecurity(codec=codec, ttl=hours * 3600, bind_principal=identify_principal)


def build_state_codec(key: str, folder: Path) -> "_LazyStateCodec":
    """Build the codec alone, with the key of `build_state_security`."""
    return _LazyStateCodec(key, folder / "state.key")


def identify_principal(context: ServerRequestContext[Any, Any]) -> str:
    """Return the caller's credential, the person for whom they act and the conversation as one text."""
    meta: Mapping[str, Any] = context.meta or {}
    if caller := get_caller(context):  # by name, because their token may have been renewed
        return "\x1f".join((caller.principal.name, str(meta.get("session_id") or "")))
    credential = hashlib.sha256((read_header(context, "authorization") or "").encode("utf-8", "replace")).hexdigest()
    return "\x1f".join((credential, read_person(context) or "", str(meta.get("session_id") or "")))


async def explain_state_error(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Explain refused request state and what to do (a middleware). Only the log tells the exact reason."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        data = error.error.data
        if not isinstance(data, dict) or data.get("reason") != "invalid_request_state":
            raise
        message = (
            "Invalid or expired requestState: it was changed, is too old, or belongs to another caller, conversation, "
            "tool or arguments. Call the tool again without requestState to be asked again"
        )
        raise MCPError(code=error.error.code, message=message, data=data) from error


def load_machine_key(folder: Path) -> str:
    """Return this machine's key from that folder, where it is created at first use."""
    return _load_or_create_key(folder / "state.key")


class _LazyStateCodec:
    """The SDK's codec, with a key that is loaded at first use."""

    def __init__(self, key: str, path: Path) -> None:
        self._key = key
        self._path = path

    def seal(self, payload: bytes) -> str:
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> AESGCMRequestStateCodec:
        return AESGCMRequestStateCodec([self._key or _load_or_create_key(self._path)])


def _load_or_create_key(path: Path) -> str:
    """Return the key of the file, which is created if it is missing, or a temporary key if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _write_exclusively(path, secrets.token_hex(32))
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        log.warning("paused calls cannot be resumed after a restart: %s cannot be written (%s)", path, error.strerror)
        return secrets.token_hex(32)


def _write_exclusively(path: Path, text: str) -> None:
    """Create the file atomically; of several processes one succeeds. Raises FileExistsError in the others."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        os.link(draft, path)
    finally:
        draft.unlink()
