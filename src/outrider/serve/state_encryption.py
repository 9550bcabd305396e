"""Sealed state: what a paused call needs to go on, carried by the client, which can neither read nor change it.

The SDK's boundary does the sealing (AES-256-GCM) and checks tool, arguments, server, time and principal on the way
back. What is ours is where the key comes from, who the principal is, and how long an answer may take.
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


def build_state_security(key: str, folder: Path, *, hours: float) -> RequestStateSecurity:
    """How request state is sealed.

    Args:
        key: At least 32 bytes, the same for all replicas; empty takes the one kept in `folder`, made at first use.
        folder: Where this machine's own key is kept, readable by its owner alone.
        hours: How long an answer may take.
    """
    seconds_per_hour = 3600
    return RequestStateSecurity(
        codec=_LazyStateCodec(key, folder / "state.key"),
        ttl=hours * seconds_per_hour,
        bind_principal=identify_principal,
    )


def build_state_codec(key: str, folder: Path) -> "_LazyStateCodec":
    """The seal itself, for what is kept in this house; the arguments are those of `security`."""
    return _LazyStateCodec(key, folder / "state.key")


def identify_principal(context: ServerRequestContext[Any, Any]) -> str:
    """Who asked: their credential, the person for whom they act and the conversation, as one text."""
    meta: Mapping[str, Any] = context.meta or {}
    if known := get_caller(context):  # their token may be another by now
        return "\x1f".join((known.principal.name, str(meta.get("session_id") or "")))
    credential = hashlib.sha256((read_header(context, "authorization") or "").encode("utf-8", "replace")).hexdigest()
    return "\x1f".join((credential, read_person(context) or "", str(meta.get("session_id") or "")))


async def explain_state_error(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Says of state that is refused what that can mean and what to do; which of it, only the log knows."""
    refused_reason = "invalid_request_state"
    try:
        return await call_next(ctx)
    except MCPError as error:
        data = error.error.data
        if not isinstance(data, dict) or data.get("reason") != refused_reason:
            raise
        message = (
            "Invalid or expired requestState: it was changed, is too old, or belongs to another caller, conversation, "
            "tool or arguments. Call the tool again without requestState to be asked anew"
        )
        raise MCPError(code=error.error.code, message=message, data=data) from error


def load_machine_key(folder: Path) -> str:
    """The key of this machine, kept in that folder and made at first use."""
    return _load_or_create_key(folder / "state.key")


class _LazyStateCodec:
    """The SDK's codec with a key that is looked for when something is sealed or opened for the first time."""

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
    """The key in the file, made if there is none; one of this process where no file can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _write_once(path, secrets.token_hex(32))
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        log.warning("paused calls cannot be resumed after a restart: %s cannot be kept (%s)", path, error.strerror)
        return secrets.token_hex(32)


def _write_once(path: Path, text: str) -> None:
    """Writes the file whole or not at all; of several processes one wins. Raises FileExistsError for the others."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        os.link(draft, path)
    finally:
        draft.unlink()
