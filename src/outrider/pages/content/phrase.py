"""The pieces of a block as one paragraph of Markdown: links, emphasis, code, pictures."""

from dataclasses import dataclass, field
from typing import Any

from outrider.pages.address import absolute
from outrider.pages.content.blocks import BREAK, CLOSE, IMAGE, LINKED, NEXT_CELL, OPEN, Given, Piece
from outrider.pages.content.style import PLAIN, Style

SIGNS = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "samp": "`", "tt": "`", "del": "~~",
    "s": "~~", "strike": "~~",
}  # fmt: skip
SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
ADDRESSES = 20_000


@dataclass(slots=True)
class Phrase:
    """Writes paragraphs of one page."""

    base: str
    style: Style = PLAIN
    known: dict[str, str] = field(default_factory=dict)

    def of(self, pieces: list[Piece]) -> str:
        """A paragraph; line breaks stay."""
        out: list[str] = []
        opened: list[tuple[int, Any, int]] = []
        for piece in pieces:
            if isinstance(piece, str):
                out.append(piece)
            elif piece[0] in (OPEN, LINKED):
                opened.append((*piece, len(out)))
            elif piece[0] == CLOSE:
                self._close(out, *opened.pop()) if opened else None
            else:
                out.append(self._sign(*piece))
        while opened:
            self._close(out, *opened.pop())
        text = " ".join("".join(out).split())
        return "\n".join(line for line in map(str.strip, text.split("\0")) if line) if "\0" in text else text

    def _sign(self, kind: int, value: Any) -> str:
        """What stands for a piece that is neither text nor a mark around text."""
        if kind == IMAGE:
            return self._image(value) if self.style.images else ""
        return {BREAK: "\0", NEXT_CELL: " "}.get(kind, "")

    def line(self, pieces: list[Piece]) -> str:
        """A paragraph on one line."""
        return " ".join(self.of(pieces).split())

    def _close(self, out: list[str], kind: int, value: Any, start: int) -> None:
        """Puts a mark around what was written since it was opened; white space stays outside."""
        inner = "".join(out[start:])
        core = inner.strip()
        if not core or "\0" in core:
            return
        if kind == LINKED:
            address = self._address(value)
            marked = f"[{core}]({address})" if address and "](" not in core else core
        else:
            sign = SIGNS.get(value, "")
            marked = core if not sign or (sign == "`" and "`" in core) or sign in core else sign + core + sign
        out[start:] = [inner[: len(inner) - len(inner.lstrip())], marked, inner[len(inner.rstrip()) :]]

    def _address(self, address: str) -> str:
        found = self.known.get(address)
        if found is None:
            if len(self.known) > ADDRESSES:
                self.known.clear()
            found = self.known[address] = absolute(address, self.base)
        return found

    def _image(self, given: Given) -> str:
        alternative = " ".join((given.get("alt") or "").split())
        address = next((found for name in SOURCES if (found := self._address(given.get(name) or ""))), "")
        return f" ![{alternative}]({address}) " if alternative and address else ""
