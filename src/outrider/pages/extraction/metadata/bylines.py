"""Names of authors in the lines around a headline."""

import re
from collections.abc import Iterable

# "By" in the languages that have a word for it; those whose word also begins sentences need a name of two words behind.
BYLINE_PATTERN = re.compile(
    r"(?:\A|[|•·⋅—–-] ?|\d,? |,? 20\d\d )"
    r"(?:(?:written|posted|published|created|authored|words|text|story|report|reporting|guide|recipe|blog|article"
    r"|this (?:post|article) was written)(?: on .{6,20})? )?(?:by\b ?:? ?(?=\S)|By(?=[A-Z][a-z]))"
    r"|\A(?:authors?|contributors?|autore?n?|auteure?s?|autor[ae]s?|autori|författare|forfatter|kirjoittaja|szerző|yazar"
    r"|tác giả|penulis|автор|작성자|글|作者|著者|文|執筆|撰文|كتب|بقلم|כתב|מאת)"
    r"(?:\s?[:：/=｜|]\s?|\s(?=[\u0590-\u06ff]))",
    re.IGNORECASE,
)
BYLINE_PREFIX_PATTERN = re.compile(
    r"\A(?:Von|Par|Por|Di|Door|Av|Af|De|Text|Texte|Texto|Testo|Tekst)(?: von| de| par| di)?:? (?=\S)"
)
NAME_END_PATTERN = re.compile(  # where the name is over
    r"\s*(?:[|•·⋅;/＊*([{<>»→・]|\s[-–—]{1,2}\s|[-–—] ?\d|\d|,?\s(?:on|in|at|for|from|via|am|vom|le|el|the|is|was"
    r"|contributor|writer|staff writer|editor|senior|reviewed|edited|updated|published|posted|last|view|follow|photo"
    r"|images?|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr"
    r"|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)\b|updated|published"
    r"|(?<![A-Z])(?<!\b[DMS]r)(?<!Mrs)(?<!Prof)(?<!Jr)\.(?=\s|\Z)).*",
    re.IGNORECASE | re.DOTALL,
)
NAME_PARTICLES = frozenset(  # small words of names, and between them
    "de da do dos das di del della der den van von of the la le el al bin ibn af av y e und and et &".split()  # noqa: SIM905
)
# What systems put where nobody is named, and words of buttons.
GENERIC_AUTHORS = frozenset(
    "admin administrator webmaster root user users guest anonymous editor undefined null none name author authors "  # noqa: SIM905
    "unknown default staff test handle superuser moderator contributor share follow menu login home account instagram "
    "email".split()
) | {"written by", "posted by", "view more posts", "view all posts", "read more", "wp admin", "site admin"}
ACCOUNT_PATTERN = re.compile(r"@?[\w.-]*\d{4,}[\w.-]*|[\w-]+(?:\.[\w-]+){2,}|[^\W_]*[{}$%<>=].*|\W*")
DATE_WORD_PATTERN = re.compile(r"\d|\A(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\Z", re.IGNORECASE)


def find_byline(lines: Iterable[tuple[str, str, bool]]) -> str:
    """The name in the first line that names an author; empty if none does.

    Args:
        lines: Text of each line, words of its first link, and whether it is marked as about a person.
    """
    max_line_chars = 120  # characters of a line that names an author
    alone = False
    for text, linked, marked in lines:
        if len(text) > max_line_chars:
            alone = False
            continue
        found = _parse_author_line(text, linked, marked=marked or alone)
        if found:
            return found
        alone = bool(BYLINE_PATTERN.fullmatch(text + " ")) or text.rstrip(" :").lower() in (
            "by",
            "written by",
            "author",
        )
    return ""


def _parse_author_line(text: str, linked: str, *, marked: bool) -> str:
    """The name in a line: behind the word for "by", or all of a line that is marked as being about a person."""
    found = BYLINE_PATTERN.search(text)
    start = found or BYLINE_PREFIX_PATTERN.match(text)
    if start is None and not marked:
        return ""
    rest = text[start.end() :] if start else text
    if linked and rest.startswith(linked) and is_person_name(linked) and (start or " " in linked):
        return linked
    name = NAME_END_PATTERN.sub("", rest).strip(" ,:.-–—")
    if not is_person_name(name) or (name.isupper() and start is None):
        return ""
    return name if " " in name or (found and _alone(text, name, marked=marked)) else ""


def _alone(text: str, name: str, *, marked: bool) -> bool:
    """Whether a single word can be a name: that of an account, or one in a script without spaces."""
    return (len(text) <= 2 * len(name) + 4 or marked) and (not name.islower() or text.endswith(name))


def is_person_name(text: str) -> bool:
    """Whether a text can be the name of a person or of a few: words that begin large, in scripts that know large."""
    max_name_words = 6  # of a name
    max_name_chars = 60  # characters of a name
    words = text.replace(",", " ").split()
    if (
        not 1 < len(text) <= max_name_chars
        or not 0 < len(words) <= max_name_words
        or not is_real_author(text)
        or DATE_WORD_PATTERN.search(text)
    ):
        return False
    return len(words) == 1 or all(not word[0].islower() or word in NAME_PARTICLES for word in words)


def is_real_author(text: str) -> bool:
    """Whether a declared author is more than an account's number, a template's variable or the administrator."""
    return bool(text) and text.strip("@ ").lower() not in GENERIC_AUTHORS and not ACCOUNT_PATTERN.fullmatch(text)
