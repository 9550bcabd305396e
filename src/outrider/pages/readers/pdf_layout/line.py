"""Lines of a PDF page and their cells."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PdfCell:
    """A part of a line between wide gaps."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """Characters of one height, in points from the page's lower left corner.

    Attributes:
        hyphenated: Whether it ends inside a word; the hyphen is removed already.
        ink: `none` or `white` where the characters are not drawn, or drawn in white.
        rotated: Whether it runs in another direction than the page.
        underlined: Whether a rule is drawn below it.
        table_rows: The rows of a table that this line replaces.
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
        return self.cells[0].text if len(self.cells) == 1 else " ".join([cell.text for cell in self.cells])

    @property
    def has_letters(self) -> bool:
        """Return whether it holds a letter or a digit."""
        return any(map(str.isalnum, self.text)) or any(
            any(map(str.isalnum, cell)) for row in self.table_rows for cell in row
        )

    @property
    def left(self) -> float:
        return self.cells[0].left if len(self.cells) == 1 else min(cell.left for cell in self.cells)

    @property
    def right(self) -> float:
        return self.cells[0].right if len(self.cells) == 1 else max(cell.right for cell in self.cells)
