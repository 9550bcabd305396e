"""Find author names in the lines around a headline."""

import re
from collections.abc import Iterable

# "By" in the languages that have a word for it. Where the word also begins sentences, a name of two words must follow.
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
NAME_END_PATTERN = re.compile(
    r"\s*(?:[|•·⋅;/＊*([{<>»→・]|\s[-–—]{1,2}\s|[-–—] ?\d|\d|,?\s(?:on|in|at|for|from|via|am|vom|le|el|the|is|was"
    r"|contributor|writer|staff writer|editor|senior|reviewed|edited|updated|published|posted|last|view|follow|photo"
    r"|images?|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr"
    r"|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)\b|updated|published"
    r"|(?<![A-Z])(?<!\b[DMS]r)(?<!Mrs)(?<!Prof)(?<!Jr)\.(?=\s|\Z)).*",
    re.IGNORECASE | re.DOTALL,
)
NAME_PARTICLES = frozenset(
    "de da do dos das di del della der den van von of the la le el al bin ibn af av y e und and et &".split()  # noqa: SIM905
)
# Placeholders of content management systems, and words of buttons.
GENERIC_AUTHORS = frozenset(
    "admin administrator webmaster root user users guest anonymous editor undefined null none name author authors "  # noqa: SIM905
    "unknown default staff test handle superuser moderator contributor share follow menu login home account instagram "
    "email".split()
) | {"written by", "posted by", "view more posts", "view all posts", "read more", "wp admin", "site admin"}
ACCOUNT_PATTERN = re.compile(r"@?[\w.-]*\d{4,}[\w.-]*|[\w-]+(?:\.[\w-]+){2,}|[^\W_]*[{}$%<>=].*|\W*")
DATE_WORD_PATTERN = re.compile(r"\d|\A(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\Z", re.IGNORECASE)


def find_byline(lines: Iterable[tuple[str, str, bool]]) -> str:
    """Return the name in the first line that names an author, or "".

    Args:
        lines: Text of each line, words of its first link, and whether its markup says it is about a person.
    """
    max_line_chars = 120
    follows_label = False  # the line before is only "by" or the like
    for text, linked_words, is_person in lines:
        if len(text) > max_line_chars:
            follows_label = False
            continue
        name = _parse_author_line(text, linked_words, is_person=is_person or follows_label)
        if name:
            return name
        is_label = text.rstrip(" :").lower() in ("by", "written by", "author")
        follows_label = is_label or bool(BYLINE_PATTERN.fullmatch(text + " "))
    return ""


def _parse_author_line(text: str, linked_words: str, *, is_person: bool) -> str:
    """Return the name after the word for "by", or a whole line that is about a person."""
    byline = BYLINE_PATTERN.search(text)
    start = byline or BYLINE_PREFIX_PATTERN.match(text)
    if start is None and not is_person:
        return ""
    rest = text[start.end() :] if start else text
    is_linked = linked_words and rest.startswith(linked_words) and is_person_name(linked_words)
    if is_linked and (start or " " in linked_words):
        return linked_words
    name = NAME_END_PATTERN.sub("", rest).strip(" ,:.-–—")
    if not is_person_name(name) or (name.isupper() and start is None):
        return ""
    # A single word is an account's name, or one in a script without spaces.
    is_likely_name = (len(text) <= 2 * len(name) + 4 or is_person) and (not name.islower() or text.endswith(name))
    return name if " " in name or (byline and is_likely_name) else ""


def is_person_name(text: str) -> bool:
    """Return whether a text can be a person's name, or a few: capitalized words in scripts with capitals."""
    max_name_words = 6
    max_name_chars = 60
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
    """Return whether a declared author is likely to be a name.

    It is not an account number, a template variable or "admin".
    """
    return bool(text) and text.strip("@ ").lower() not in GENERIC_AUTHORS and not ACCOUNT_PATTERN.fullmatch(text)
