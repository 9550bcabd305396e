"""Read formulas of cells (ISO/IEC 29500-1 section 18.17): shared ones, and links."""

import re
from dataclasses import dataclass, field

from outrider.pages.readers.parsing.xml import XmlElement
from outrider.pages.readers.spreadsheet.cells import CellAddress, parse_address

MAX_FORMULA_CHARS = 500
# Quoted texts and names of sheets are skipped, and so are names of functions such as LOG10.
REFERENCE = re.compile(r"""("[^"]*"|'[^']*')|(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)([1-9]\d{0,6})(?![\w.(])""")
HYPERLINK_FORMULA = re.compile(r'HYPERLINK\("([^"]{1,2000})"(?:,"([^"]{1,500})")?\)', re.IGNORECASE)


def shift_formula(formula: str, rows: int, columns: int) -> str:
    """Return a formula as it reads that many rows further down and columns to the right."""

    def shift_reference(match: re.Match[str]) -> str:
        quoted, column_lock, column, row_lock, row = match.groups()
        address = parse_address(f"{column}{row}") if not quoted else None
        if address is None:
            return match[0]
        moved = CellAddress(address.row + (0 if row_lock else rows), address.column + (0 if column_lock else columns))
        letters = CellAddress(0, moved.column).name.removesuffix("0")
        return f"{column_lock}{letters}{row_lock}{moved.row}" if min(moved) > 0 else "#REF!"

    return REFERENCE.sub(shift_reference, formula)


@dataclass
class SharedFormulas:
    """The formulas of a sheet that several cells share: their texts are stored in the first cell."""

    masters: dict[str, tuple[str, CellAddress]] = field(default_factory=dict)
    chars_left: int = 500_000  # of formulas that are shifted, since one may be shared by a million cells

    def read_formula(self, cell: XmlElement, at: CellAddress, *, is_shown: bool) -> str:
        """Return the formula of the cell at that address, without its equals sign.

        It is empty if there is none, or if the cell shares another one's and is not `is_shown`.
        """
        element = cell.children[0] if cell.children else None
        if isinstance(element, str):  # white space between elements
            element = cell.find("s:f")
        if element is None or element.name != "s:f":
            return ""
        formula, number = element.text[:MAX_FORMULA_CHARS], element.get("si")
        if element.get("t") != "shared":
            return formula
        if formula:
            self.masters[number] = formula, at
            return formula
        master, first = self.masters.get(number, ("", at))
        if not is_shown or self.chars_left < 0:
            return ""
        self.chars_left -= len(master)
        return shift_formula(master, at.row - first.row, at.column - first.column)


def parse_link_formula(formula: str) -> tuple[str, str]:
    """Return the URL and the text of a formula that is only a link; both are empty for others."""
    match = HYPERLINK_FORMULA.fullmatch(formula)
    return (match[1], match[2] or match[1]) if match else ("", "")
