"""The words of one paragraph on their way to Markdown: links, emphasis, code, pictures."""

from dataclasses import dataclass, field
from urllib.parse import urljoin

from outrider.core.untrusted import is_safe_link

MARKS = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "code": "`",
    "kbd": "`",
    "samp": "`",
    "tt": "`",
    "del": "~~",
    "s": "~~",
}
NESTING = 32  # open marks that are remembered; more is no text
ADDRESS_LIMIT = 2_000


def absolute(address: str, base: str) -> str:
    """The address as http(s) or mailto, absolute; empty if it is none of these."""
    address = "".join(address.split()) if any(letter in address for letter in "\n\t\r") else address.strip()
    if not address or address.startswith("#") or len(address) > ADDRESS_LIMIT:
        return ""
    try:
        joined = urljoin(base, address)
    except ValueError:
        return ""
    if not is_safe_link(joined):
        return ""
    return joined.replace(" ", "%20").replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")


@dataclass
class Inline:
    """Pieces of text, and the marks that are open around them."""

    pieces: list[str] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)
    spaced: bool = True

    def add(self, text: str) -> None:
        """Adds running text: white space becomes one space."""
        words = " ".join(text.split())
        if not words:
            self._space()
            return
        if text[0].isspace():
            self._space()
        self.pieces.append(words)
        self.spaced = False
        if text[-1].isspace():
            self._space()

    def verbatim(self, text: str) -> None:
        """Adds text as it is."""
        self.pieces.append(text)
        self.spaced = text.endswith(("\n", " "))

    def _space(self) -> None:
        if not self.spaced:
            self.pieces.append(" ")
            self.spaced = True

    def open(self, name: str) -> None:
        """Remembers where an emphasis begins."""
        if len(self.marks) < NESTING:
            self.marks.append((name, len(self.pieces)))

    def close(self, name: str) -> None:
        """Puts the marks around what came since the latest opening of that name."""
        for at in range(len(self.marks) - 1, -1, -1):
            if self.marks[at][0] == name:
                start = self.marks[at][1]
                del self.marks[at]
                mark = MARKS[name]
                self.wrap(start, mark, mark, mark)
                return

    def wrap(self, start: int, before: str, after: str, unless: str = "") -> str:
        """Puts something around the pieces from `start` on, spaces left outside; returns their text."""
        text = "".join(self.pieces[start:])
        bare = text.strip()
        if not bare or "\n" in bare or (unless and unless in bare):
            return bare
        lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        self.pieces[start:] = [f"{lead}{before}{bare}{after}{trail}"]
        return bare

    def take(self) -> str:
        """The text, and begins anew."""
        text = "".join(self.pieces).strip()
        self.pieces.clear()
        self.marks.clear()
        self.spaced = True
        return text
