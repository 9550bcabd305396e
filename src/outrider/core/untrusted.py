"""Text that other people wrote: cleaned of what only machines see, and marked as theirs.

Page text reaches a model that may take it for instructions. So invisible characters go, and what
remains is wrapped in a boundary that the author of the page cannot have guessed.
"""

import re
import secrets
import unicodedata
from functools import lru_cache

UNTRUSTED_META_KEY = "outrider/untrusted"
# Letters and marks that show nothing though their category does not say so (Default_Ignorable_Code_Point in
# unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt).
BLANK_LETTERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)
# The two selectors that say how an emoji is drawn stay behind one; in a row they would carry hidden bytes.
STRAY_SELECTOR = re.compile(
    "(?<![0-9#*\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
)
# Joiners stay between letters of the scripts that spell with them (Arabic to Indic) and between emoji, one at a time.
JOINING_LETTERS = (
    "\u0590-\u10ff\u1200-\u1aaf\u1b00-\u1cff\u2600-\u27bf\u2b00-\u2bff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
)
JOINING_LETTERS += "\U00010a00-\U00011fff\U0001f000-\U0001faff"
JOINING_ARROWS = "\u2194\u2195\u21ae"  # arrows that only end an emoji
STRAY_JOINER = re.compile(
    f"(?<![{JOINING_LETTERS}\ufe0f])[\u200c\u200d]|[\u200c\u200d](?![{JOINING_LETTERS}{JOINING_ARROWS}])"
)
REPEATED_JOINERS = re.compile("([\u200c\u200d])[\u200c\u200d]+")


def clean_untrusted(text: str) -> str:
    """The text in NFC, without control, bidi, zero-width, tag, private-use and other invisible characters.

    Line feeds and tabs stay; other line ends become line feeds. Joiners and emoji selectors stay where
    spelling and emoji need them, and go where they only hide. Cleaning twice changes nothing more.
    """
    line_ends = ("\r\n", "\r", "\v", "\f", "\x85", "\u2028")
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\u2029", "\n\n")
    for end in line_ends:
        text = text.replace(end, "\n")
    hidden = {letter for letter in set(text) if not _is_visible(letter)}
    if hidden:
        text = "".join(letter for letter in text if letter not in hidden)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    selected = STRAY_SELECTOR.sub("", text) if "\ufe0e" in text or "\ufe0f" in text else text
    if "\u200c" in selected or "\u200d" in selected:
        return _remove_joiners(selected)
    return unicodedata.normalize("NFC", selected)


def _remove_joiners(text: str) -> str:
    """The text without joiners that join nothing. Where one goes, marks may compose or change places.

    Then the next one may join nothing any more; no honest text does that twice, and a hostile one loses all of them.
    """
    for _ in range(3):
        before, text = text, unicodedata.normalize("NFC", STRAY_JOINER.sub("", REPEATED_JOINERS.sub(r"\1", text)))
        if text == before:
            return text
    return unicodedata.normalize("NFC", text.replace("\u200c", "").replace("\u200d", ""))


@lru_cache(maxsize=4_096)
def _is_visible(letter: str) -> bool:
    hidden_categories = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})  # the tag block U+E0000 is Cf
    visible_controls = frozenset("\n\t\u200c\u200d")
    return letter in visible_controls or not (
        unicodedata.category(letter) in hidden_categories or BLANK_LETTERS.match(letter)
    )


def wrap_untrusted(text: str, origin: str) -> str:
    """The text between two lines that name its origin and share a random number."""
    number = f"{secrets.randbelow(10**12):012}"  # digits are the shortest spelling: ten bits a token
    return f"<untrusted-{number} from={sanitize_url(origin)!r}>\n{text}\n</untrusted-{number}>"


def sanitize_url(address: str) -> str:
    """The address on one line, without quotes or brackets that could end its marking."""
    return "".join(letter for letter in clean_untrusted(address) if letter not in "\n\t<>'\"")[:500]


def is_safe_link(address: str) -> bool:
    """Whether a link may be shown to a model: http(s) and mailto only."""
    schemes = ("http://", "https://", "mailto:")
    return address.lower().startswith(schemes)
