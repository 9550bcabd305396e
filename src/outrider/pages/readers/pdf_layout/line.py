"""A line of a PDF page: its pieces between wide gaps, and how it is set."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PdfCell:
    """A piece of a line between wide gaps."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """Characters on one height, in points from the page's lower left corner.

    `hyphenated` lines end inside of a word; their hyphen is gone already. `ink` is `none` or `white` where the
    characters are not drawn, or are so in white; `rotated` ones run another way than the page, and a rule stands
    under `underlined` ones. `table_rows` are those of a table that stands in this place.
    """

    cells: tuple[PdfCell, ...]
    bottom: float
    top: float
    size: float
    bold: bool = False
    monospaced: bool = False
    hyphenated: bool = False
    ink: str = ""
    rotated: bool = False
    underlined: bool = False
    table_rows: tuple[tuple[str, ...], ...] = ()

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def has_letters(self) -> bool:
        """Whether there is a letter or a digit in it."""
        return any(map(str.isalnum, self.text)) or any(
            any(map(str.isalnum, cell)) for row in self.table_rows for cell in row
        )

    @property
    def left(self) -> float:
        return self.cells[0].left if len(self.cells) == 1 else min(cell.left for cell in self.cells)

    @property
    def right(self) -> float:
        return self.cells[0].right if len(self.cells) == 1 else max(cell.right for cell in self.cells)
