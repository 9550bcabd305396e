"""Measure how well tables and reading order are read from PDFs.

    python -m evals.documents.evaluate [FOLDER...] [--half dev|test] [--each]

A folder has PDFs with their true content: `name.json` with `tables` (rows of cells, a merged cell repeated), `order`
(phrases in reading order), `headings`, and `absent` (running heads and page numbers, which are not text); or
`name-str.xml` as in the table competition of ICDAR 2013 (Göbel et al.), which the tests of tabula-java and camelot
include. There are three figures for tables: F1 of cells and of neighbouring cells, that competition's own measure,
which falls if a row, a column or a heading is misplaced; and the similarity of whole tables, with rows and cells
aligned (as in GriTS, Smock et al. 2022), where a false table counts like a missing one.
"""

import argparse
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import TypeVar
from xml.etree import ElementTree as ET

from outrider.pages.document import Document
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import find_reader

OWN_FOLDER = Path(__file__).parent / "files"
PAGES_FOLDER = Path(__file__).parent / "pages"  # written by make_pages.py
TABLES_FOLDER = Path(__file__).parent / "tables"  # the half of the output of make_tables.py on which no rule was tuned
MARKDOWN_SIGNS = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\]\([^()\s]*\)|[*`\[]")

SCORE_NAMES = ("cells", "neighbors", "tables", "order", "headings", "absent")
HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)

T = TypeVar("T")
Table = list[list[str]]


@dataclass(frozen=True)
class DocumentTruth:
    """A PDF and its true content."""

    path: Path
    tables: list[Table]
    order: list[str]
    headings: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class DocumentScore:
    """The scores of one document from 0 to 1; None without a truth."""

    name: str
    cells: float
    neighbors: float
    tables: float | None
    order: float | None
    headings: float | None
    absent: float | None


def iter_truths(folder: Path, half: str = "") -> Iterator[DocumentTruth]:
    """Yield the documents of a folder that have a truth; halves are split by name."""
    for path in sorted(folder.rglob("*.pdf")):
        is_dev = zlib.crc32(path.stem.encode()) % 2 == 0
        if half and is_dev != (half == "dev"):
            continue
        xml, facts = path.with_name(f"{path.stem}-str.xml"), path.with_suffix(".json")
        if xml.exists():
            yield DocumentTruth(path, read_competition_tables(xml), [])
        elif facts.exists() and isinstance(truth := json.loads(facts.read_text()), dict):
            names = ("tables", "order", "headings", "absent")
            yield DocumentTruth(path, *(truth.get(name, []) for name in names))


def read_competition_tables(path: Path) -> list[Table]:
    """Return the tables of a file of ICDAR 2013, regions below each other."""
    tables: list[Table] = []
    for element in ET.parse(path).getroot().iter("table"):  # noqa: S314 - a fetched corpus, read by its developers
        cells: dict[tuple[int, int], str] = {}
        for region in element.iter("region"):
            first = max((row for row, _ in cells), default=-1) + 1
            for cell in region.iter("cell"):
                start_row, start_column = int(cell.get("start-row", 0)), int(cell.get("start-col", 0))
                for row in range(start_row, int(cell.get("end-row", start_row)) + 1):
                    for column in range(start_column, int(cell.get("end-col", start_column)) + 1):
                        cells[first + row, column] = cell.findtext("content") or ""
        height, width = (max((at[axis] for at in cells), default=-1) + 1 for axis in (0, 1))
        tables.append([[cells.get((row, column), "") for column in range(width)] for row in range(height)])
    return tables


def score_document(truth: DocumentTruth) -> DocumentScore:
    """Read a document, and compare it with its truth."""
    body = truth.path.read_bytes()
    reader = find_reader("application/pdf", truth.path.name, len(body))
    document = reader.read(ReaderInput(body, truth.path.name, "application/pdf"))
    cells = [Counter(map("".join, _iter_cells(tables))) for tables in (document.tables, truth.tables)]
    neighbors = [Counter(_iter_neighbors(tables)) for tables in (document.tables, truth.tables)]
    return DocumentScore(
        truth.path.stem,
        _compute_f1(*cells),
        _compute_f1(*neighbors),
        score_tables(document.tables, truth.tables),
        score_order(document.markdown, truth.order) if truth.order else None,
        score_headings(document, truth.headings) if truth.headings else None,
        1 - mean(_normalize(text) in _normalize(document.markdown) for text in truth.absent) if truth.absent else None,
    )


def score_tables(found: list[Table], wanted: list[Table]) -> float | None:
    """Return the similarity of tables paired in order; None if neither side has any."""
    found = [table for table in found if table]
    if not found and not wanted:
        return None
    return 2 * _align(found, wanted, _compare_tables) / (len(found) + len(wanted))


def _compare_tables(one: Table, other: Table) -> float:
    return 2 * _align(one, other, _compare_rows) / (len(one) + len(other))


def _compare_rows(one: list[str], other: list[str]) -> float:
    return 2 * _align(one, other, _compare_cells) / max(1, len(one) + len(other))


@lru_cache(maxsize=200_000)
def _compare_cells(one: str, other: str) -> float:
    """Return the similarity of two texts; numbers are either equal or not."""
    one, other = _normalize(one), _normalize(other)
    if one == other or not any(map(str.isalpha, one)) or not any(map(str.isalpha, other)):
        return float(one == other)
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _align(one: list[T], other: list[T], compare: Callable[[T, T], float]) -> float:
    """Return the greatest sum of similarities of pairs in order."""
    best = [0.0] * (len(other) + 1)
    for item in one:
        row = [0.0]
        for index, candidate in enumerate(other):
            row.append(max(best[index + 1], row[index], best[index] + compare(item, candidate)))
        best = row
    return best[-1]


def score_headings(document: Document, wanted: list[str]) -> float:
    """Return the F1 of the headings; a split one counts as two wrong ones."""
    found = Counter(_normalize(line.lstrip("# ")) for line in HEADING.findall(document.markdown))
    return _compute_f1(found, Counter(map(_normalize, wanted)))


def score_order(markdown: str, phrases: list[str]) -> float:
    """Return the share of consecutive phrases that are found in order."""
    text = _normalize(markdown)
    places = [text.find(_normalize(phrase)) for phrase in phrases]
    pairs = list(pairwise(places))
    return sum(0 <= before < after for before, after in pairs) / len(pairs)


def _iter_cells(tables: list[Table]) -> Iterator[str]:
    """Yield the texts of cells, merged ones once."""
    for table in tables:
        rows = [[_normalize(cell) for cell in row] for row in table]
        for at, row in enumerate(rows):
            above = rows[at - 1] if at else []
            for column, cell in enumerate(row):
                is_repeated = (column and row[column - 1] == cell) or (column < len(above) and above[column] == cell)
                if cell and not is_repeated:
                    yield cell


def _iter_neighbors(tables: list[Table]) -> Iterator[tuple[str, str, str]]:
    """Yield each cell with the next non-empty cells to the right and below."""
    for table in tables:
        rows = [[_normalize(cell) for cell in row] for row in table]
        width = max(map(len, rows), default=0)
        columns = [[row[column] for row in rows if column < len(row)] for column in range(width)]
        for direction, groups in (("right", rows), ("below", columns)):
            pairs = {
                (number, before, after)
                for number, group in enumerate(groups)
                for before, after in pairwise([cell for cell in group if cell])
                if before != after
            }
            yield from ((direction, before, after) for _, before, after in pairs)


def _compute_f1(
    found: Counter[str] | Counter[tuple[str, str, str]], wanted: Counter[str] | Counter[tuple[str, str, str]]
) -> float:
    total = found.total() + wanted.total()
    return 2 * (found & wanted).total() / total if total else 1.0  # ty: ignore


def _normalize(text: str) -> str:
    """Return the letters, digits and symbols of a text without spaces and Markdown."""
    return "".join(
        char for char in MARKDOWN_SIGNS.sub("", text).lower() if not char.isspace() and char not in "-–—−_\xad"
    )


def describe_scores(scores: list[DocumentScore]) -> str:
    """Return the mean of each figure with its standard error."""
    lines = [f"{len(scores)} documents"]
    for name in SCORE_NAMES:
        values = [value for score in scores if (value := getattr(score, name)) is not None]
        if values:
            error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
            lines.append(f"{name:10} {mean(values):.4f} ± {error:.4f} ({len(values)})")
    return "\n".join(lines)


def main() -> None:
    """Print the scores of the folders, and of each document if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[OWN_FOLDER, PAGES_FOLDER, TABLES_FOLDER])
    parser.add_argument("--half", choices=("dev", "test"), default="")
    parser.add_argument("--each", action="store_true")
    arguments = parser.parse_args()
    scores = [score_document(truth) for folder in arguments.folders for truth in iter_truths(folder, arguments.half)]
    for score in sorted(scores, key=lambda score: score.neighbors) if arguments.each else []:
        values = (getattr(score, name) for name in SCORE_NAMES)
        print(*("  -  " if value is None else f"{value:.3f}" for value in values), score.name)
    print(describe_scores(scores))


if __name__ == "__main__":
    main()
