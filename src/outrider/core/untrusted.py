"""Text that other people wrote: cleaned of what only machines see, and marked as theirs.

Page text reaches a model that may take it for instructions. So invisible characters go, and what
remains is wrapped in a boundary that the author of the page cannot have guessed.
"""

import secrets
import unicodedata

META = "outrider/untrusted"
KEPT = frozenset("\n\t")
DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# Joiners that Indic and Arabic spelling and emoji need; the tag block U+E0000 (category Cf) is not among them.
JOINERS = frozenset("\u200c\u200d")
SCHEMES = ("http://", "https://", "mailto:")


def clean(text: str) -> str:
    """The text in NFC, without control, bidi, zero-width, tag and private-use characters.

    Line feeds and tabs stay; other line ends become line feeds. Joiners stay between two visible
    letters, where spelling needs them, and go where they only hide.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n\n")
    text = unicodedata.normalize("NFC", text)
    return "".join(letter for at, letter in enumerate(text) if _visible(text, at, letter))


def _visible(text: str, at: int, letter: str) -> bool:
    if letter in KEPT or (" " <= letter <= "~"):
        return True
    if letter in JOINERS:
        return 0 < at < len(text) - 1 and text[at - 1] > "\u0300" and text[at + 1] > "\u0300"
    return unicodedata.category(letter) not in DROPPED


def wrap(text: str, origin: str) -> str:
    """The text between two lines that name its origin and share a random number."""
    number = secrets.token_hex(4)
    return f"<untrusted-{number} from={safe_address(origin)!r}>\n{text}\n</untrusted-{number}>"


def safe_address(address: str) -> str:
    """The address on one line, without quotes or brackets that could end its marking."""
    return "".join(letter for letter in clean(address) if letter not in "\n\t<>'\"")[:500]


def is_safe_link(address: str) -> bool:
    """Whether a link may be shown to a model: http(s) and mailto only."""
    return address.lower().startswith(SCHEMES)
