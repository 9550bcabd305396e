"""Compare the facts of a page with the structure of its Markdown."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import unquote

from evals.extraction.metric import split_words
from evals.structure.facts import Facts

FACT_KINDS = ("code", "rows", "items", "headings", "links", "math")
BRACKET_PATTERN = re.compile(r"\\.|[\[\]]|\n\s*\n", re.DOTALL)
TARGET_PATTERN = re.compile(
    r"\(\s*(?:<([^<>\n]*)>|((?:[^()\s]|\((?:[^()\s]|\([^()\s]*\))*\))*))(?:\s+\"[^\"\n]*\")?\s*\)"
)
FENCE_PATTERN = re.compile(r"^([>\s]*(?:(?:[-*+]|\d+[.)])\s+)?)(`{3,}|~{3,})\s*([^`]*)$")
ITEM_PATTERN = re.compile(r"^([>\s]*)([-*+]|\d{1,9}[.)])[ \t]+(\S.*)$")
NOTE_PATTERN = re.compile(r"^[>\s]*\[\^[^\]\s]+\]:[ \t]+(\S.*)$")  # a footnote: an item of the list of notes
HEADING_PATTERN = re.compile(r"^[>\s]*(?:(?:[-*+]|\d+[.)])\s+)?(#{1,6})\s+(\S.*)$")
RULE_PATTERN = re.compile(r"^[>\s]*(?:[-*_]\s*){3,}$")
TABLE_RULE = re.compile(r"^[>\s]*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
MARKDOWN_SIGNS = re.compile(r"[*~`\\]|(?<!\w)_|_(?!\w)")
MATH_STYLE = re.compile(r"^\{?\\(?:displaystyle|textstyle)(?![a-zA-Z])|\\(?:displaystyle|textstyle)(?![a-zA-Z])")
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")  # never shown
CELL_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")  # a one-line listing in a cell, which cannot have a fence
TRACKING_PARAMETER = re.compile(
    r"(?:utm_\w+|\w*clid|srsltid|gad_source|igsh|epik|_g[al]|mc_[ce]id|_hs\w+|__hs\w+|gbraid|wbraid|mkt_tok|li_fat_id)="
)
BRACED_SIGN = re.compile(r"\{(\w)\}")


class Mark(Enum):
    """The result for a fact: it keeps its form, only its words, or neither."""

    KEPT = "kept"
    PLAIN = "plain"
    MISSING = "missing"


@dataclass(frozen=True)
class Link:
    """A link or a picture: its start, its label, and the end of its target."""

    start: int
    label: tuple[int, int]
    end: int
    url: str


def find_links(markdown: str) -> Iterator[Link]:
    """Yield links and pictures, inner ones first; unmatched brackets do not count."""
    opened: list[int] = []
    for found in BRACKET_PATTERN.finditer(markdown):
        if found[0] == "[":
            opened.append(found.start())
        elif found[0] != "]":
            if found[0][0] == "\n":
                opened.clear()
        elif opened:
            start, end = opened.pop(), found.start()
            if target := TARGET_PATTERN.match(markdown, end + 1):
                picture = markdown[start - 1 : start] == "!"
                yield Link(start - picture, (start + 1, end), target.end(), target[1] or target[2] or "")


@dataclass
class MarkdownStructure:
    """The structure of a Markdown text."""

    flat: str
    words: str
    code: Counter[str] = field(default_factory=Counter)
    rows: list[list[list[str]]] = field(default_factory=list)
    items: list[tuple[list[str], bool]] = field(default_factory=list)
    headings: list[tuple[int, list[str]]] = field(default_factory=list)
    links: list[tuple[list[str], str]] = field(default_factory=list)


def judge_facts(facts: Facts, markdown: str) -> dict[str, list[Mark]]:
    """Return a mark for each fact of each kind, in order."""
    shown = read_markdown(markdown)
    return {
        "code": _mark_facts(facts.code, shown, _has_code, str),
        "rows": _mark_facts(facts.rows, shown, _has_row, " ".join),
        "items": _mark_facts(facts.items, shown, _has_item, lambda fact: fact[0]),
        "headings": _mark_headings(facts.headings, shown),
        "links": _mark_facts(facts.links, shown, _has_link, lambda fact: fact[0]),
        "math": _mark_facts(facts.math, shown, _has_formula, str),
    }


def read_markdown(markdown: str) -> MarkdownStructure:
    """Read the structure of Markdown line by line."""
    shown = MarkdownStructure(_squeeze_formula(markdown), f" {' '.join(split_words(strip_markdown(markdown)))} ")
    prose = list(_iter_prose(markdown.replace("\r\n", "\n").split("\n"), shown.code))
    text = "\n".join(prose)
    for link in find_links(text):
        shown.links.append((split_words(strip_markdown(text[slice(*link.label)])), _normalize_address(link.url)))
    for at, line in enumerate(prose):
        if heading := HEADING_PATTERN.match(line):
            shown.headings.append((len(heading[1]), split_words(strip_markdown(heading[2]))))
        if line.count("|") and not TABLE_RULE.match(line):
            shown.code.update(_normalize_code(found[1].replace("\\|", "|")) for found in CELL_CODE.finditer(line))
            shown.rows.append([split_words(strip_markdown(cell)) for cell in re.split(r"(?<!\\)\|", line)])
        if note := NOTE_PATTERN.match(line):
            shown.items.append((split_words(strip_markdown(note[1])), True))
        if (item := ITEM_PATTERN.match(line)) and not RULE_PATTERN.match(line):
            shown.items.append((_read_item_words(prose, at, item), item[2][0].isdigit()))
    return shown


def _iter_prose(lines: list[str], code: Counter[str]) -> Iterator[str]:
    """Yield the lines outside listings, and count the listings."""
    at = 0
    while at < len(lines):
        fence = FENCE_PATTERN.match(lines[at])
        if not fence:
            yield lines[at]
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].strip("> \t").rstrip() != fence[2]:
            end += 1
        code[_normalize_code("\n".join(_remove_lead(line, fence[1]) for line in lines[at + 1 : end]))] += 1
        yield ""
        at = end + 1


def _remove_lead(line: str, lead: str) -> str:
    """Remove the quotation marks and the indentation of a line's fence."""
    blank = "".join(sign if sign == ">" else " " for sign in lead)
    for arguments in (lead, blank, blank.rstrip()):
        if line.startswith(arguments):
            return line[len(arguments) :]
    return line


def _normalize_code(text: str) -> str:
    text = CONTROL_CHARACTERS.sub("", text.replace("\xa0", " ")).strip("\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _read_item_words(lines: list[str], at: int, item: re.Match[str]) -> list[str]:
    """Return the words of an item: of its line and its continuation lines."""
    found, inner = [item[3]], len(item[1]) + 2
    for line in lines[at + 1 :]:
        if ITEM_PATTERN.match(line) or sum(map(len, found)) > 2_000:
            break
        if line.strip() and len(line) - len(line.lstrip()) < inner:
            break
        found.append(line)
    text = " ".join(found)
    return split_words(strip_markdown(re.sub(r"^(?:#+|\[[ x]\]) ", "", text)))


def strip_markdown(markdown: str) -> str:
    """Return the words of Markdown, without addresses and symbols."""
    if "](" not in markdown:
        return MARKDOWN_SIGNS.sub("", markdown)
    kept_marks = [True] * len(markdown)
    for link in find_links(markdown):
        for start, end in ((link.start, link.label[0]), (link.label[1], link.end)):
            kept_marks[start:end] = [False] * (end - start)
    return MARKDOWN_SIGNS.sub("", "".join(sign for sign, is_kept in zip(markdown, kept_marks, strict=True) if is_kept))


def _split_fact(fact: str) -> list[str]:
    """Return the words of a fact without symbols that Markdown also uses."""
    return split_words(MARKDOWN_SIGNS.sub("", fact))


def _mark_facts(
    facts: list, shown: MarkdownStructure, has: Callable[..., bool], text: Callable[..., str]
) -> list[Mark]:
    return [_mark_fact(has(fact, shown), text(fact), shown) for fact in facts]


def _mark_fact(is_kept: bool, text: str, shown: MarkdownStructure) -> Mark:
    if is_kept:
        return Mark.KEPT
    mine = _split_fact(text)
    return Mark.PLAIN if mine and f" {' '.join(mine)} " in shown.words else Mark.MISSING


def _is_same(mine: list[str], other: list[str]) -> bool:
    """Return whether words are the same, ignoring spaces."""
    return mine == other or "".join(mine) == "".join(other)


def _has_code(fact: str, shown: MarkdownStructure) -> bool:
    return shown.code[_normalize_code(fact)] > 0


def _has_row(fact: list[str], shown: MarkdownStructure) -> bool:
    """Return whether one table row has the cells in order; spans may repeat cells."""
    cells = [_split_fact(cell) for cell in fact]
    return any(_has_cells(cells, iter(row)) for row in shown.rows)


def _has_cells(cells: list[list[str]], row: Iterator[list[str]]) -> bool:
    return all(any(_is_same(cell, other) for other in row) for cell in cells)


def _has_item(fact: tuple[str, bool], shown: MarkdownStructure) -> bool:
    item_start_words = 8  # words that identify a long item
    text, ordered = fact
    mine = _split_fact(text)
    return any(
        ordered == numbered
        and (
            _is_same(mine, other)
            or (len(mine) >= item_start_words and other[:item_start_words] == mine[:item_start_words])
        )
        for other, numbered in shown.items
    )


def _mark_headings(facts: list[tuple[int, str]], shown: MarkdownStructure) -> list[Mark]:
    """Mark each heading by its level relative to the one before."""
    found: list[Mark] = []
    before: tuple[int, int] | None = None
    at = 0
    for level, text in facts:
        wanted = _split_fact(text)
        places = [place for place, (_, other) in enumerate(shown.headings) if _is_same(wanted, other)]
        place = next((each for each in places if each >= at), places[0] if places else None)
        if place is None:
            found.append(_mark_fact(False, text, shown))
            continue
        arguments = shown.headings[place][0]
        right = before is None or _compute_sign(level - before[0]) == _compute_sign(arguments - before[1])
        found.append(Mark.KEPT if right else Mark.PLAIN)
        before, at = (level, arguments), place + 1
    return found


def _compute_sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _has_link(fact: tuple[str, str], shown: MarkdownStructure) -> bool:
    mine, url = _split_fact(fact[0]), _normalize_address(fact[1])
    return any(url == other and (_is_same(mine, answer) or (not mine and answer)) for answer, other in shown.links)


def _normalize_address(url: str) -> str:
    """Return an address in one spelling, without text fragments and trackers."""
    path, _, query = unquote(url.replace("\\", "")).partition("#:~:")[0].partition("?")
    told = "&".join(each for each in query.split("&") if not TRACKING_PARAMETER.match(each))
    return f"{path}?{told}".rstrip("/?#").replace(" ", "")


def _has_formula(fact: str, shown: MarkdownStructure) -> bool:
    inner = _squeeze_formula(fact)
    return any(
        f"{before}{inner}{after}" in shown.flat for before, after in (("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
    )


def _squeeze_formula(text: str) -> str:
    """Remove white space, sizes, and braces around a single character or the whole formula."""
    sized = MATH_STYLE.sub("", text.replace(r"{\displaystyle", "{").replace(r"{\textstyle", "{"))
    return _remove_braces(BRACED_SIGN.sub(r"\1", "".join(sized.split())))


def _remove_braces(text: str) -> str:
    """Remove the braces around all of a text."""
    if text[:1] != "{" or text[-1:] != "}":
        return text
    depth = 0
    for sign in text[:-1]:
        depth += (sign == "{") - (sign == "}")
        if not depth:
            return text
    return text[1:-1]
