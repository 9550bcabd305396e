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

WINDOW = 24  # letters and digits in a row, which are no coincidence: about five words
STEP = 12
KEY = re.compile(r"[^\W_]{12,}")  # with a digit in it: a key, an account, the number of something
ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
SIGNS = re.compile(r"[\W_]+")
ENCODED = re.compile(r"[A-Za-z0-9+/_-]{16,}")
MOST = 2_000_000  # characters of either side that are remembered, the newest
OWN_WORDS = frozenset({"planning", "playbook"})  # toolsets that give back what the agent has written


class Secrecy:
    """The private and the public words of one run.

    Args:
        known: What the run was asked: its own addresses and words may be used.
    """

    def __init__(self, known: str) -> None:
        self._private = _Words()
        self._public = _Words()
        self._public.add(known)

    def read(self, tool: Tool | None, text: str) -> None:
        """Remembers what a tool gave: what comes from the world is public, everything else is not."""
        if tool is not None and tool.toolset in OWN_WORDS:
            return
        is_public = tool is not None and tool.open_world and tool.toolset != "run_agent"
        (self._public if is_public else self._private).add(text)

    def tells(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Whether a call of a tool that reaches the world would carry private words there."""
        if not tool.open_world or self._private.is_empty:
            return False
        said = list(_texts(arguments))
        found = [address for text in said for address in _addresses(text)]
        typed = said if tool.effect == "act" else []
        return any(self._is_told(each) for each in (*found, *typed))

    def _is_told(self, text: str) -> bool:
        whole = _flat(text)
        if whole in self._public.flat or (ADDRESS.match(text) and whole in self._private.flat):
            return False  # it was given, or read, as it is
        return any(self._repeats(each) for each in _readings(text))

    def _repeats(self, text: str) -> bool:
        if (_keys(text) & self._private.keys) - self._public.keys:
            return True
        flat = _flat(text)
        parts = (flat[at : at + WINDOW] for at in range(0, max(len(flat) - WINDOW, 0) + 1, STEP))
        return any(
            len(part) == WINDOW and part in self._private.flat and part not in self._public.flat for part in parts
        )


class _Words:
    """Texts, as one row of their letters and digits, and what looks like keys in them."""

    def __init__(self) -> None:
        self.flat = ""
        self.keys: set[str] = set()

    @property
    def is_empty(self) -> bool:
        return not self.flat

    def add(self, text: str) -> None:
        self.flat = f"{self.flat} {_flat(text)}"[-MOST:]
        self.keys |= _keys(text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _addresses(text: str) -> list[str]:
    """The addresses in a text; one that begins with an address is that as a whole, with spaces and all."""
    return [text] if ADDRESS.match(text.strip()) else ADDRESS.findall(text)


def _flat(text: str) -> str:
    return SIGNS.sub("", unquote_plus(text).casefold())


def _keys(text: str) -> set[str]:
    return {each for each in KEY.findall(unquote_plus(text).casefold()) if any(map(str.isdigit, each))}


def _readings(text: str) -> Iterator[str]:
    """The text, and what parts of it say in base64 and in hexadecimal."""
    yield text
    for part in ENCODED.findall(unquote_plus(text)):
        for decoded in (_base64(part), _hexadecimal(part)):
            if decoded.isprintable() and decoded:
                yield decoded


def _base64(part: str) -> str:
    try:
        return base64.b64decode(part.replace("-", "+").replace("_", "/") + "=" * (-len(part) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _hexadecimal(part: str) -> str:
    try:
        return bytes.fromhex(part).decode()
    except ValueError:
        return ""
