"""Clean text from untrusted sources, and mark it as such.

A model may mistake page text for instructions. So invisible characters are removed, and the rest is wrapped in a
boundary that the page's author cannot guess.
"""

import re
import secrets
import unicodedata
from functools import lru_cache

UNTRUSTED_META_KEY = "outrider/untrusted"
# Invisible letters and marks whose category does not show it (Default_Ignorable_Code_Point in
# unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt).
BLANK_LETTERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)
# The two variation selectors stay after an emoji; in a row they could carry hidden bytes.
STRAY_SELECTOR = re.compile(
    "(?<![0-9#*\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
)
# The marks of this module and of citations, in any spelling that a model could take for them.
BOUNDARY_MARK = re.compile(r"[<\uff1c\ufe64\u2039\u3008\u27e8](?=[\s/\uff0f\u2215\u2044]*untrusted)", re.IGNORECASE)
OPENED_BOUNDARY = re.compile(r"<untrusted-(\d{12}) from=")
# Boundaries inside another one match, too; their first character is escaped.
BOUNDARY_NUMBER = re.compile(r"(?<=[<;]untrusted-)\d{12}(?= from=)|(?<=[<;]/untrusted-)\d{12}(?=>)")
CITATION_MARK = re.compile(r"([:\uff1a]\s*cite)\s*(?=[\[\uff3b])", re.IGNORECASE)
# Single joiners stay between letters of scripts that need them (Arabic to Indic) and between emoji.
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
    """Return the text in NFC without invisible characters: control, bidi, zero-width, tag, private-use and others.

    Line feeds and tabs stay; other line ends become line feeds. Joiners and emoji selectors stay where
    spelling and emoji need them. Cleaning is idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\u2029", "\n\n")
    for line_end in ("\r\n", "\r", "\v", "\f", "\x85", "\u2028"):
        text = text.replace(line_end, "\n")
    letters = set(text)
    hidden = {letter for letter in letters if not _is_visible(letter)}
    if hidden:
        text = "".join(letter for letter in text if letter not in hidden)
    if text.isascii():
        return text
    marks = "".join(mark for mark in unicodedata.normalize("NFD", "".join(letters)) if unicodedata.combining(mark))
    # Again afterwards, because some marks become two.
    text = _cut_mark_runs(unicodedata.normalize("NFC", _cut_mark_runs(text, marks)), marks)
    if "\ufe0e" in text or "\ufe0f" in text:
        text = STRAY_SELECTOR.sub("", text)
    if "\u200c" in text or "\u200d" in text:
        return _remove_joiners(text)
    return unicodedata.normalize("NFC", text)


def _cut_mark_runs(text: str, marks: str) -> str:
    """Keep at most 30 combining marks in a row.

    See UAX #15 (13, stream-safe text).

    Normalizing a run takes time that grows with its square.
    """
    mark = f"[{marks}\u200c\u200d\ufe0e\ufe0f]"
    return re.sub(f"({mark}{{30}}){mark}+", r"\1", text) if marks else text


def _remove_joiners(text: str) -> str:
    """Remove joiners that join nothing.

    Removing one may recompose marks, so that the next one joins nothing any more. Ordinary text does not do that
    repeatedly; hostile text that does loses all joiners.
    """
    for _ in range(3):
        before, text = text, unicodedata.normalize("NFC", STRAY_JOINER.sub("", REPEATED_JOINERS.sub(r"\1", text)))
        if text == before:
            return text
    return unicodedata.normalize("NFC", text.replace("\u200c", "").replace("\u200d", ""))


@lru_cache(maxsize=4_096)
def _is_visible(letter: str) -> bool:
    if letter in "\n\t\u200c\u200d":
        return True
    # The tag block U+E0000 has category Cf.
    return unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Co", "Cn"} and not BLANK_LETTERS.match(letter)


def disarm_marks(text: str) -> str:
    """Escape what looks like the boundary of untrusted text, or like a citation."""
    return CITATION_MARK.sub(r"\1\\", BOUNDARY_MARK.sub("&lt;", text))


def disarm_json(text: str) -> str:
    """Escape in JSON what `disarm_marks` escapes in text; it stays JSON."""
    return CITATION_MARK.sub(r"\1\\\\", BOUNDARY_MARK.sub("&lt;", text))


def wrap_untrusted(text: str, origin: str) -> str:
    """Put the text between two lines that name its origin and share a random number.

    What looks like such a line in the text is escaped. Citations stay, because an agent's answer has its own.
    """
    text = BOUNDARY_MARK.sub("&lt;", text)
    number = f"{secrets.randbelow(10**12):012}"  # digits cost the fewest tokens per random bit
    return f"<untrusted-{number} from={sanitize_url(origin)!r}>\n{text}\n</untrusted-{number}>"


def close_boundaries(text: str) -> str:
    """Return a truncated text with the closing lines that it lost."""
    unclosed = [number for number in OPENED_BOUNDARY.findall(text) if f"</untrusted-{number}>" not in text]
    return "\n".join([text, *(f"</untrusted-{number}>" for number in reversed(unclosed))])


def remove_boundary_numbers(text: str) -> str:
    """Return the text with its boundaries' numbers removed, to compare the results of equal calls."""
    return BOUNDARY_NUMBER.sub("", text)


def sanitize_url(address: str) -> str:
    """Return the address on one line, without quotes or brackets that could end its attribute."""
    return "".join(letter for letter in clean_untrusted(address) if letter not in "\n\t<>'\"")[:500]


def is_safe_link(address: str) -> bool:
    """Return whether a link may be shown to a model: http(s) and mailto only."""
    return address.lower().startswith(("http://", "https://", "mailto:"))
