"""An HTML table: data becomes rows and columns, layout becomes its texts."""

from dataclasses import dataclass, field

CELL_LIMIT = 600  # characters of a cell; what holds more is layout
COLUMNS = 60


@dataclass
class Table:
    """Cells in the order of their tags."""

    cells: list[list[list[str]]] = field(default_factory=list)
    headed: bool = False

    def start(self, name: str) -> None:
        """A row or a cell begins."""
        if name == "tr" or not self.cells:
            self.cells.append([])
        if name != "tr":
            self.headed = self.headed or name == "th"
            self.cells[-1].append([])

    def add(self, text: str) -> None:
        """A paragraph of the cell at hand; before the first cell, of a caption."""
        if not text:
            return
        if not self.cells:
            self.cells.append([])
        if not self.cells[-1]:
            self.cells[-1].append([])
        self.cells[-1][-1].append(text)

    def rows(self) -> list[list[str]]:
        """The rows that have cells, all of one length, each cell on one line."""
        rows = [[" ".join(" ".join(cell).split()) for cell in row] for row in self.cells if row]
        rows = [row for row in rows if any(row)]
        width = min(COLUMNS, max((len(row) for row in rows), default=0))
        return [(row + [""] * (width - len(row)))[:width] for row in rows]

    def is_data(self) -> bool:
        """Whether it reads as a table: two columns and rows at least, no long cells, none too wide."""
        filled = [row for row in self.cells if any(row)]
        widest = max((len(row) for row in filled), default=0)
        if not 2 <= widest <= COLUMNS or (len(filled) < 2 and not self.headed):
            return False
        long = sum(len(cell) > 4 or sum(map(len, cell)) > CELL_LIMIT for row in filled for cell in row)
        return long == 0 or (self.headed and long * 10 < sum(map(len, filled)))

    def texts(self) -> list[str]:
        """The paragraphs of all cells, in order."""
        return [text for row in self.cells for cell in row for text in cell]

    def markdown(self) -> str:
        """The table in pipes; the first row is the head, since Markdown knows no other tables."""
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in self.rows()]
        rule = "|" + " --- |" * len(self.rows()[0])
        return "\n".join([lines[0], rule, *lines[1:]])
