"""Compare the facts of a page with the structure of its Markdown."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import unquote

from evals.extraction.metric import words
from evals.structure.facts import Facts

KINDS = ("code", "rows", "items", "headings", "links", "math")
BRACKET = re.compile(r"\\.|[\[\]]|\n\s*\n", re.DOTALL)
TARGET = re.compile(r"\(\s*(?:<([^<>\n]*)>|((?:[^()\s]|\((?:[^()\s]|\([^()\s]*\))*\))*))(?:\s+\"[^\"\n]*\")?\s*\)")
FENCE = re.compile(r"^([>\s]*(?:(?:[-*+]|\d+[.)])\s+)?)(`{3,}|~{3,})\s*([^`]*)$")
ITEM = re.compile(r"^([>\s]*)([-*+]|\d{1,9}[.)])[ \t]+(\S.*)$")
NOTE = re.compile(r"^[>\s]*\[\^[^\]\s]+\]:[ \t]+(\S.*)$")  # a footnote: an item of the list of notes
HEADING = re.compile(r"^[>\s]*(?:(?:[-*+]|\d+[.)])\s+)?(#{1,6})\s+(\S.*)$")
RULE = re.compile(r"^[>\s]*(?:[-*_]\s*){3,}$")
TABLE_RULE = re.compile(r"^[>\s]*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
SIGNS = re.compile(r"[*~`\\]|(?<!\w)_|_(?!\w)")
STYLE = re.compile(r"^\{?\\(?:displaystyle|textstyle)(?![a-zA-Z])|\\(?:displaystyle|textstyle)(?![a-zA-Z])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")  # never shown
CELL_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")  # a listing of one line in a cell, which has no place for a fence
TRACKER = re.compile(
    r"(?:utm_\w+|\w*clid|srsltid|gad_source|igsh|epik|_g[al]|mc_[ce]id|_hs\w+|__hs\w+|gbraid|wbraid|mkt_tok|li_fat_id)="
)
SINGLE = re.compile(r"\{(\w)\}")
STARTS = 8  # words that tell a long item


class Mark(Enum):
    """What has become of a fact: it has its form, only its words are there, or not even those."""

    KEPT = "kept"
    PLAIN = "plain"
    MISSING = "missing"


@dataclass(frozen=True)
class Link:
    """A link or a picture: where its mark begins, its label, and where its target ends."""

    start: int
    label: tuple[int, int]
    end: int
    url: str


def links_of(markdown: str) -> Iterator[Link]:
    """Links and pictures, inner ones first. Brackets that do not match in their paragraph are none."""
    opened: list[int] = []
    for found in BRACKET.finditer(markdown):
        if found[0] == "[":
            opened.append(found.start())
        elif found[0] != "]":
            if found[0][0] == "\n":
                opened.clear()
        elif opened:
            start, end = opened.pop(), found.start()
            if target := TARGET.match(markdown, end + 1):
                picture = markdown[start - 1 : start] == "!"
                yield Link(start - picture, (start + 1, end), target.end(), target[1] or target[2] or "")


@dataclass
class Shown:
    """The structure of a Markdown text."""

    flat: str
    words: str
    code: Counter[str] = field(default_factory=Counter)
    rows: list[list[list[str]]] = field(default_factory=list)
    items: list[tuple[list[str], bool]] = field(default_factory=list)
    headings: list[tuple[int, list[str]]] = field(default_factory=list)
    links: list[tuple[list[str], str]] = field(default_factory=list)


def kept(facts: Facts, markdown: str) -> dict[str, list[Mark]]:
    """Of each kind, for each fact in order, what the Markdown shows of it."""
    shown = read(markdown)
    return {
        "code": _each(facts.code, shown, _has_code, str),
        "rows": _each(facts.rows, shown, _has_row, " ".join),
        "items": _each(facts.items, shown, _has_item, lambda fact: fact[0]),
        "headings": _headings(facts.headings, shown),
        "links": _each(facts.links, shown, _has_link, lambda fact: fact[0]),
        "math": _each(facts.math, shown, _has_formula, str),
    }


def read(markdown: str) -> Shown:
    """Reads Markdown line by line, as far as structure goes."""
    shown = Shown(_squeezed(markdown), f" {' '.join(words(bare(markdown)))} ")
    prose = list(_outside_of_code(markdown.replace("\r\n", "\n").split("\n"), shown.code))
    text = "\n".join(prose)
    for link in links_of(text):
        shown.links.append((words(bare(text[slice(*link.label)])), _address(link.url)))
    for at, line in enumerate(prose):
        if heading := HEADING.match(line):
            shown.headings.append((len(heading[1]), words(bare(heading[2]))))
        if line.count("|") and not TABLE_RULE.match(line):
            shown.code.update(_code(found[1].replace("\\|", "|")) for found in CELL_CODE.finditer(line))
            shown.rows.append([words(bare(cell)) for cell in re.split(r"(?<!\\)\|", line)])
        if note := NOTE.match(line):
            shown.items.append((words(bare(note[1])), True))
        if (item := ITEM.match(line)) and not RULE.match(line):
            shown.items.append((_item_words(prose, at, item), item[2][0].isdigit()))
    return shown


def _outside_of_code(lines: list[str], code: Counter[str]) -> Iterator[str]:
    """The lines that are no listing; listings are counted."""
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            yield lines[at]
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].strip("> \t").rstrip() != fence[2]:
            end += 1
        code[_code("\n".join(_led(line, fence[1]) for line in lines[at + 1 : end]))] += 1
        yield ""
        at = end + 1


def _led(line: str, lead: str) -> str:
    """A line without the quotation marks and the indentation that its fence has."""
    blank = "".join(sign if sign == ">" else " " for sign in lead)
    for given in (lead, blank, blank.rstrip()):
        if line.startswith(given):
            return line[len(given) :]
    return line


def _code(text: str) -> str:
    text = CONTROL.sub("", text.replace("\xa0", " ")).strip("\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _item_words(lines: list[str], at: int, item: re.Match[str]) -> list[str]:
    """The words of an item: its line and those that go on with it."""
    found, inner = [item[3]], len(item[1]) + 2
    for line in lines[at + 1 :]:
        if ITEM.match(line) or sum(map(len, found)) > 2_000:
            break
        if line.strip() and len(line) - len(line.lstrip()) < inner:
            break
        found.append(line)
    text = " ".join(found)
    return words(bare(re.sub(r"^(?:#+|\[[ x]\]) ", "", text)))


def bare(markdown: str) -> str:
    """The words of Markdown, without addresses and signs."""
    if "](" not in markdown:
        return SIGNS.sub("", markdown)
    kept_marks = [True] * len(markdown)
    for link in links_of(markdown):
        for start, end in ((link.start, link.label[0]), (link.label[1], link.end)):
            kept_marks[start:end] = [False] * (end - start)
    return SIGNS.sub("", "".join(sign for sign, is_kept in zip(markdown, kept_marks, strict=True) if is_kept))


def _said(fact: str) -> list[str]:
    """The words of a fact without signs that Markdown uses too, as `bare` takes them out of what is shown."""
    return words(SIGNS.sub("", fact))


def _each(facts: list, shown: Shown, has: Callable[..., bool], text: Callable[..., str]) -> list[Mark]:
    return [_mark(has(fact, shown), text(fact), shown) for fact in facts]


def _mark(is_kept: bool, text: str, shown: Shown) -> Mark:
    if is_kept:
        return Mark.KEPT
    mine = _said(text)
    return Mark.PLAIN if mine and f" {' '.join(mine)} " in shown.words else Mark.MISSING


def _same(mine: list[str], other: list[str]) -> bool:
    """Whether words are the same, wherever they are parted: a style sheet knows whether two spans run together."""
    return mine == other or "".join(mine) == "".join(other)


def _has_code(fact: str, shown: Shown) -> bool:
    return shown.code[_code(fact)] > 0


def _has_row(fact: list[str], shown: Shown) -> bool:
    """The cells in one line of a table, in order; cells in between may be repeated ones of a span."""
    cells = [_said(cell) for cell in fact]
    return any(_within(cells, iter(row)) for row in shown.rows)


def _within(cells: list[list[str]], row: Iterator[list[str]]) -> bool:
    return all(any(_same(cell, other) for other in row) for cell in cells)


def _has_item(fact: tuple[str, bool], shown: Shown) -> bool:
    text, ordered = fact
    mine = _said(text)
    return any(
        ordered == numbered and (_same(mine, other) or (len(mine) >= STARTS and other[:STARTS] == mine[:STARTS]))
        for other, numbered in shown.items
    )


def _headings(facts: list[tuple[int, str]], shown: Shown) -> list[Mark]:
    """Each heading that is shown and stands to the one before as the page has it: above, below or beside."""
    found: list[Mark] = []
    before: tuple[int, int] | None = None
    at = 0
    for level, text in facts:
        wanted = _said(text)
        places = [place for place, (_, other) in enumerate(shown.headings) if _same(wanted, other)]
        place = next((each for each in places if each >= at), places[0] if places else None)
        if place is None:
            found.append(_mark(False, text, shown))
            continue
        given = shown.headings[place][0]
        right = before is None or _sign(level - before[0]) == _sign(given - before[1])
        found.append(Mark.KEPT if right else Mark.PLAIN)
        before, at = (level, given), place + 1
    return found


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _has_link(fact: tuple[str, str], shown: Shown) -> bool:
    mine, url = _said(fact[0]), _address(fact[1])
    return any(url == other and (_same(mine, said) or (not mine and said)) for said, other in shown.links)


def _address(url: str) -> str:
    """An address in one spelling, without what a browser shall search for in the page, and what tracks its reader."""
    path, _, query = unquote(url.replace("\\", "")).partition("#:~:")[0].partition("?")
    told = "&".join(each for each in query.split("&") if not TRACKER.match(each))
    return f"{path}?{told}".rstrip("/?#").replace(" ", "")


def _has_formula(fact: str, shown: Shown) -> bool:
    inner = _squeezed(fact)
    return any(
        f"{before}{inner}{after}" in shown.flat for before, after in (("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
    )


def _squeezed(text: str) -> str:
    """Text without white space, without what only sizes a formula, and without braces around one sign or all of it."""
    sized = STYLE.sub("", text.replace(r"{\displaystyle", "{").replace(r"{\textstyle", "{"))
    return _unbraced(SINGLE.sub(r"\1", "".join(sized.split())))


def _unbraced(text: str) -> str:
    """Text without the braces that hold all of it."""
    if text[:1] != "{" or text[-1:] != "}":
        return text
    depth = 0
    for sign in text[:-1]:
        depth += (sign == "{") - (sign == "}")
        if not depth:
            return text
    return text[1:-1]
