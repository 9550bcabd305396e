"""Generate the PDFs of the corpus, with their true content.

    python -m evals.documents.make_pages FOLDER

It needs Typst and ReportLab (`pip install typst reportlab`) and a Chromium. Texts consist of random words and tables of
random numbers, so that nobody else is the author. Each PDF is one page, and `name.json` next to it lists its tables,
consecutive phrases, headings, and phrases that belong to the page and not to its text.
"""

import argparse
import html
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import typst  # ty: ignore[unresolved-import]
from reportlab.pdfgen import canvas  # ty: ignore[unresolved-import]

NOUNS = (
    "harbour", "lantern", "keeper", "vessel", "current", "shoreline", "beacon", "cargo", "ledger", "signal",
    "compass", "anchor", "channel", "estuary", "market", "bridge", "workshop", "orchard", "archive", "valley",
    "railway", "furnace", "garden", "library", "reservoir", "quarry", "meadow", "chimney", "village",
    "observatory",
)  # fmt: skip
ADJECTIVES = ("quiet", "northern", "narrow", "early", "broken", "common", "distant", "heavy", "careful", "recent",
              "seasonal", "ancient", "public", "modest")  # fmt: skip
VERBS = ("supports", "measures", "replaces", "follows", "crosses", "describes", "increases", "protects", "delivers",
         "records", "improves", "limits")  # fmt: skip
ADVERBS = ("slowly", "rarely", "nearly", "mostly", "barely", "often", "evenly", "plainly", "gladly", "firmly")
GROUPS = ("Northern", "Southern", "Coastal", "Inland", "Eastern", "Western")

Table = list[list[str]]


@dataclass
class TextGenerator:
    """Draw sentences and tables; the same seed always draws the same ones."""

    seed: int
    starts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def pick_word(self, words: tuple[str, ...]) -> str:
        return self.random.choice(words)

    def draw_sentence(self) -> str:
        while True:
            start = f"The {self.pick_word(ADJECTIVES)} {self.pick_word(NOUNS)} {self.pick_word(ADVERBS)} {self.pick_word(VERBS)}"
            if start not in self.starts:
                self.starts.add(start)
                return f"{start} the {self.pick_word(ADJECTIVES)} {self.pick_word(NOUNS)} behind the {self.pick_word(NOUNS)}."

    def draw_paragraph(self, sentences: int = 4) -> str:
        return " ".join(self.draw_sentence() for _ in range(sentences))

    def draw_title(self) -> str:
        return f"{self.pick_word(ADJECTIVES).title()} {self.pick_word(NOUNS)}s and the {self.pick_word(NOUNS)}"

    def draw_number(self) -> str:
        return self.pick_word(
            (
                str(self.random.randint(2, 999)),
                f"{self.random.randint(1000, 99999):,}",
                f"{self.random.random() * 100:.1f}",
                f"{self.random.random() * 100:.1f}%",
                f"({self.random.randint(1, 99)})",
            )
        )


# Kinds of tables: each returns the rows, a merged cell repeated.


def draw_plain_table(draw: TextGenerator) -> Table:
    nouns = draw.random.sample(NOUNS, 9)
    head = ["Station", *(noun.title() for noun in nouns[:3])]
    return [head, *([noun.title(), *(draw.draw_number() for _ in range(3))] for noun in nouns[3:])]


def draw_word_table(draw: TextGenerator) -> Table:
    rows = [["Part", "Task", "Keeper", "State"]]
    rows.extend(
        [
            noun,
            f"{draw.pick_word(ADVERBS)} {draw.pick_word(VERBS)}",
            draw.pick_word(NOUNS).title(),
            draw.pick_word(ADJECTIVES),
        ]
        for noun in draw.random.sample(NOUNS, 6)
    )
    return rows


def draw_wrapped_table(draw: TextGenerator) -> Table:
    rows = [["Rule", "Reason", "Since"]]
    rows.extend(
        [f"{draw.pick_word(ADJECTIVES).title()} {noun}", draw.draw_sentence(), str(draw.random.randint(1801, 1999))]
        for noun in draw.random.sample(NOUNS, 4)
    )
    return rows


def draw_two_level_table(draw: TextGenerator) -> Table:
    first, second = draw.random.sample(GROUPS, 2)
    rows = [["Place", first, first, second, second], ["Place", "2021", "2022", "2021", "2022"]]
    return rows + [[noun.title(), *(draw.draw_number() for _ in range(4))] for noun in draw.random.sample(NOUNS, 6)]


def draw_section_table(draw: TextGenerator) -> Table:
    rows = [["Item", "2023", "2024"]]
    for group in draw.random.sample(GROUPS, 2):
        rows.append([f"{group} district", "", ""])
        rows += [[noun.title(), draw.draw_number(), draw.draw_number()] for noun in draw.random.sample(NOUNS, 3)]
    return [*rows, ["Total", draw.draw_number(), draw.draw_number()]]


def draw_spanning_table(draw: TextGenerator) -> Table:
    rows = [["District", "Kind", "Count", "Share"]]
    for group in draw.random.sample(GROUPS, 3):
        rows += [[group, noun.title(), draw.draw_number(), draw.draw_number()] for noun in draw.random.sample(NOUNS, 2)]
    return rows


def draw_sparse_table(draw: TextGenerator) -> Table:
    rows = [["Name", "First", "Second", "Third", "Fourth"]]
    rows.extend(
        [noun.title(), *(draw.draw_number() if draw.random.random() < 0.65 else "" for _ in range(4))]
        for noun in draw.random.sample(NOUNS, 7)
    )
    return rows


TABLE_KINDS: tuple[Callable[[TextGenerator], Table], ...] = (
    draw_plain_table,
    draw_word_table,
    draw_wrapped_table,
    draw_two_level_table,
    draw_section_table,
    draw_spanning_table,
    draw_sparse_table,
)
STYLES = ("grid", "booktabs", "head", "bare", "striped")


def find_spans(rows: Table) -> Iterator[tuple[int, int, int, int, str]]:
    """Yield row, column, spans and text of each cell; equal cells are merged."""
    seen: set[tuple[int, int]] = set()
    heads = 2 if rows[0][0] == rows[1][0] != "" else 1
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            if (row, column) in seen:
                continue
            wide = tall = 1
            if row < heads and text:
                while column + wide < len(cells) and cells[column + wide] == text:
                    wide += 1
            if text and (column == 0 or row < heads):
                while row + tall < len(rows) and rows[row + tall][column] == text:
                    tall += 1
            seen |= {(row + down, column + over) for down in range(tall) for over in range(wide)}
            yield row, column, tall, wide, text


def format_typst(rows: Table, style: str, widths: str = "") -> str:
    heads = 2 if rows[0][0] == rows[1][0] != "" else 1
    last = len(rows)
    rules = {
        "grid": "stroke: 0.5pt",
        "striped": "stroke: none, fill: (_, y) => if calc.odd(y) { luma(235) }",
        "rows": "stroke: (bottom: 0.5pt)",
        "columns": "stroke: (x, _) => if x > 0 { (left: 0.5pt) }",
    }.get(style, "stroke: none")
    lines = {
        "booktabs": f"table.hline(y: 0), table.hline(y: {heads}, stroke: 0.5pt), table.hline(y: {last}),",
        "head": f"table.hline(y: {heads}, stroke: 0.6pt),",
    }.get(style, "")
    if style == "booktabs" and heads > 1:
        lines += (
            "table.hline(y: 1, start: 1, end: 3, stroke: 0.4pt), table.hline(y: 1, start: 3, end: 5, stroke: 0.4pt),"
        )
    cells = []
    for row, column, tall, wide, text in find_spans(rows):
        shown = f"*{escape_typst(text)}*" if row < heads and style != "bare" else escape_typst(text)
        align = "center" if wide > 1 else "left + top" if column == 0 or len(text) > 12 else ""
        extra = f", align: {align}" if align else ""
        cells.append(f"table.cell(x: {column}, y: {row}, rowspan: {tall}, colspan: {wide}{extra})[{shown}],")
    is_text = any(any(map(str.isalpha, cell)) for cell in rows[-1][1:])
    align = "left" if is_text else "right"
    columns = widths or str(len(rows[0]))
    return f"#table(columns: {columns}, align: {align}, inset: (x: 7pt, y: 4pt), {rules}, {lines}\n{''.join(cells)})\n"


def escape_typst(text: str) -> str:
    return "".join("\\" + char if char in "#$*_@<>~`\\[]" else char for char in text)


def format_html(rows: Table, style: str) -> str:
    heads = 2 if rows[0][0] == rows[1][0] != "" else 1
    body: dict[int, str] = {}
    for row, _, tall, wide, text in find_spans(rows):
        tag = "th" if row < heads else "td"
        body[row] = body.get(row, "") + f'<{tag} rowspan="{tall}" colspan="{wide}">{html.escape(text)}</{tag}>'
    lines = "".join(f"<tr>{body.get(row, '')}</tr>" for row in range(len(rows)))
    return f'<table class="{style}">{lines}</table>'


@dataclass
class GeneratedPage:
    """A generated page and its truth."""

    name: str
    tables: list[Table] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def write_truth(self, folder: Path) -> None:
        facts = {"tables": self.tables, "order": self.order, "headings": self.headings, "absent": self.absent}
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps({key: value for key, value in facts.items() if value}, ensure_ascii=False) + "\n")

    def add_paragraph(self, text: str) -> str:
        """Record the beginning and end of a paragraph, and return it."""
        pieces = text.split()
        self.order += [" ".join(pieces[:4]), " ".join(pieces[-4:])]
        return text


PAGE_SETTINGS = """#set page(width: 595pt, height: 842pt, margin: {margin}, header: [{header}], footer: [{footer}])
#set text(font: "{font}", size: {size}pt, hyphenate: true)
#set par(justify: true, leading: {leading}em, spacing: 1.1em)
#set document(date: none)
#show heading: set text(size: {heading}pt)
"""


def format_page_settings(number: int, **changes: object) -> str:
    fonts = ("Libertinus Serif", "New Computer Modern", "Liberation Sans", "DejaVu Serif")
    values: dict[str, object] = {
        "margin": "(x: 62pt, y: 70pt)", "header": "", "footer": "", "font": fonts[number % 4], "size": 10,
        "leading": 0.6, "heading": 12,
    }  # fmt: skip
    return PAGE_SETTINGS.format_map(values | changes)


def write_article(page: GeneratedPage, draw: TextGenerator, number: int) -> str:
    """Write one column with headings and a table between paragraphs."""
    rows, style = TABLE_KINDS[number % 7](draw), STYLES[number % 5]
    page.tables.append(rows)
    title, second = draw.draw_title(), draw.draw_title()
    page.headings += [title, second]
    widths = "(110pt, 1fr, 60pt)" if TABLE_KINDS[number % 7] is draw_wrapped_table else ""
    page.absent.append("Annual record of the coast")
    return (
        format_page_settings(number, header="Annual record of the coast #h(1fr) 17", size=10 + number % 2)
        + f"= {title}\n{page.add_paragraph(draw.draw_paragraph())}\n\n{page.add_paragraph(draw.draw_paragraph(3))}\n\n"
        + f"#align({'center' if number % 2 else 'left'})[{format_typst(rows, style, widths)}]\n"
        + f"== {second}\n{page.add_paragraph(draw.draw_paragraph(5))}\n\n{page.add_paragraph(draw.draw_paragraph(3))}\n"
    )


def write_paper(page: GeneratedPage, draw: TextGenerator, number: int) -> str:
    """Write two columns under a title, with a table in one and a footnote."""
    rows, style = (
        (draw_plain_table, draw_section_table, draw_word_table, draw_two_level_table, draw_sparse_table)[number % 5](
            draw
        ),
        STYLES[1 + number % 4],
    )
    page.tables.append(rows)
    title, heads = draw.draw_title(), [draw.draw_title() for _ in range(3)]
    page.headings += [title, *heads]
    page.absent += ["Journal of Shores", "Vol. 12"]
    note = draw.draw_sentence()
    text = format_page_settings(
        number,
        size=9,
        heading=10.5,
        header="#text(8pt)[Journal of Shores, Vol. 12 #h(1fr) 204]",
        footer="",
        leading=0.55,
    )
    text += f'#align(center)[#text(17pt, weight: "bold")[{title}]\n\nA. Wend, B. Tern and C. Reed]\n#v(10pt)\n'
    text += "#columns(2, gutter: 18pt)[\n"
    text += f"== {heads[0]}\n{page.add_paragraph(draw.draw_paragraph(7))}\n\n{page.add_paragraph(draw.draw_paragraph(5))}#footnote[{note}]\n\n"
    text += f"== {heads[1]}\n{page.add_paragraph(draw.draw_paragraph(8))}\n\n#text(8pt)[{format_typst(rows, style)}]\n"
    text += f"{page.add_paragraph(draw.draw_paragraph(8))}\n\n== {heads[2]}\n{page.add_paragraph(draw.draw_paragraph(9))}\n\n{page.add_paragraph(draw.draw_paragraph(6))}\n]"
    return text


def write_wide_table(page: GeneratedPage, draw: TextGenerator, number: int) -> str:
    """Write two columns below a table over the whole width."""
    rows, style = (
        (draw_two_level_table, draw_wrapped_table, draw_plain_table, draw_spanning_table)[number % 4](draw),
        STYLES[number % 3],
    )
    page.tables.append(rows)
    head = draw.draw_title()
    page.headings.append(head)
    widths = "(110pt, 1fr, 60pt)" if number % 4 == 1 else "(1fr,) * " + str(len(rows[0]))
    text = (
        format_page_settings(number, size=9.5, footer="#align(center)[88]")
        + format_typst(rows, style, widths)
        + "\n#v(8pt)\n"
    )
    text += (
        "#columns(2, gutter: 20pt)[\n"
        f"{page.add_paragraph(draw.draw_paragraph(9))}\n\n{page.add_paragraph(draw.draw_paragraph(8))}\n\n"
    )
    text += f"== {head}\n{page.add_paragraph(draw.draw_paragraph(9))}\n\n{page.add_paragraph(draw.draw_paragraph(10))}\n\n{page.add_paragraph(draw.draw_paragraph(6))}\n]"
    return text


def write_newsletter(page: GeneratedPage, draw: TextGenerator, number: int) -> str:
    """Write three columns under a headline."""
    title, heads = draw.draw_title(), [draw.draw_title() for _ in range(3)]
    page.headings += [title, *heads]
    text = format_page_settings(number, size=8.5, heading=10) + f'#text(24pt, weight: "bold")[{title}]\n#v(4pt)\n'
    text += "#columns(3, gutter: 14pt)[\n"
    for head in heads:
        text += (
            f"== {head}\n" + "\n\n".join(page.add_paragraph(draw.draw_paragraph(count)) for count in (5, 6, 4)) + "\n\n"
        )
    return text + "]"


def write_sidebar(page: GeneratedPage, draw: TextGenerator, number: int) -> str:
    """Write a narrow column of small type next to the text."""
    head = draw.draw_title()
    page.headings.append(head)
    main = "\n\n".join(page.add_paragraph(draw.draw_paragraph(count)) for count in (5, 6, 5, 6))
    side = "\n\n".join(page.add_paragraph(draw.draw_paragraph(count)) for count in (3, 3))
    left, right = f"= {head}\n{main}", f"#text(8pt)[{side}]"
    if number % 2:
        page.order = [*page.order[8:], *page.order[:8]]
        return format_page_settings(number) + f"#grid(columns: (125pt, 1fr), column-gutter: 22pt, [{right}], [{left}])"
    return format_page_settings(number) + f"#grid(columns: (1fr, 125pt), column-gutter: 22pt, [{left}], [{right}])"


def write_tableless_page(page: GeneratedPage, draw: TextGenerator, number: int) -> str:
    """Write formulas, underlined and boxed words, a listing and a form, but no table."""
    title = f"{draw.draw_title()}, and how the {draw.pick_word(NOUNS)} {draw.pick_word(VERBS)} the {draw.pick_word(NOUNS)} of the whole country"
    page.headings.append(title)
    size = 20 if number % 2 else 17
    text = format_page_settings(number, size=10) + f'#par(justify: false)[#text({size}pt, weight: "bold")[{title}]]\n\n'
    text += page.add_paragraph(draw.draw_paragraph(4)) + "\n\n$ c_(k+1) = (a + b) / (x_k^2 + 1) + sum_(i=1)^n w_i $\n\n"
    text += "$ f(x) &= integral_0^1 g(t) dif t \\ &= 2 x + 3 y - z $\n\n"
    text += (
        page.add_paragraph(draw.draw_paragraph(2))
        + f" Here #underline[{draw.draw_sentence()}] and #box(stroke: 0.5pt, inset: 2pt)[boxed words].\n\n"
    )
    code = (
        "def count(boats):\n    total = 0\n\n    for boat in boats:\n        total += boat.crew\n\n\n    return total"
    )
    text += f"```python\n{code}\n```\n\n" + page.add_paragraph(draw.draw_paragraph(3)) + "\n\n"
    text += (
        "Name: #box(width: 120pt, stroke: (bottom: 0.5pt)) #h(20pt) Date: #box(width: 80pt, stroke: (bottom: 0.5pt))\n"
    )
    return text


def write_continued_page(page: GeneratedPage, draw: TextGenerator, number: int) -> str:
    """Write a page of a longer text: running head, page number and footnotes."""
    page.absent += [("Chapter four", "The keeper of the tower", "Report to the council")[number % 3]]
    head = (
        "#smallcaps[Chapter four] #h(1fr) 131",
        "#align(center)[#emph[The keeper of the tower]]",
        "#text(8pt)[Report to the council #h(1fr) March 2024]",
    )[number % 3]
    foot = "#align(center)[131]" if number % 3 else ""
    paragraphs = [draw.draw_paragraph(count) for count in (4, 5, 6, 5)]
    paragraphs[0] = paragraphs[0].removeprefix("The ")
    first, *rest = [page.add_paragraph(paragraph) for paragraph in paragraphs]
    notes = [f"#footnote[{draw.draw_sentence()}]" for _ in range(2)]
    body = first + "\n\n" + notes[0].join(rest[:2]).replace(notes[0], f"{notes[0]}\n\n") + notes[1] + "\n\n" + rest[2]
    return (
        format_page_settings(number, size=10.5, header=head, footer=foot, margin="(x: 80pt, top: 62pt, bottom: 62pt)")
        + body
    )


def make_typst(folder: Path) -> None:
    layouts = {
        "article": (write_article, 18),
        "paper": (write_paper, 10),
        "wide-table": (write_wide_table, 6),
        "newsletter": (write_newsletter, 3),
        "sidebar": (write_sidebar, 4),
        "no-table": (write_tableless_page, 3),
        "continued": (write_continued_page, 3),
    }
    for name, (write_page, count) in layouts.items():
        for number in range(count):
            page = GeneratedPage(f"{name}-{number + 1:02}")
            source = write_page(page, TextGenerator(1000 * count + number), number)
            document = typst.compile(source.encode(), format="pdf", timestamp=0, pdf_standards="1.7")
            (folder / f"{page.name}.pdf").write_bytes(document)
            page.write_truth(folder)


CSS = """@page { size: A4; margin: 16mm } body { font: 10pt/1.35 'Liberation Serif'; hyphens: auto; text-align: justify }
table { border-collapse: collapse; margin: 8px 0; text-align: left } td, th { padding: 3px 10px; vertical-align: top }
.grid td, .grid th { border: 1px solid #444 } .booktabs { border-top: 1px solid; border-bottom: 1px solid }
.booktabs th, .head th { border-bottom: 1px solid } .striped tr:nth-child(even) td { background: #e8e8ee }
td:not(:first-child) { text-align: VAR } .two { columns: 2; column-gap: 9mm; font-size: 9pt }"""


def make_web(folder: Path, browser: str) -> None:
    """Print HTML pages, as people do from a browser."""
    for number in range(12):
        draw, page = TextGenerator(7000 + number), GeneratedPage(f"web-{number + 1:02}")
        rows, style = TABLE_KINDS[(3 * number) % 7](draw), STYLES[number % 5]
        page.tables.append(rows)
        title, second = draw.draw_title(), draw.draw_title()
        page.headings += [title, second]
        is_text = any(any(map(str.isalpha, cell)) for cell in rows[-1][1:])
        paragraphs = [f"<p>{page.add_paragraph(draw.draw_paragraph(count))}</p>" for count in (4, 5)]
        middle = [f"<p>{page.add_paragraph(draw.draw_paragraph(count))}</p>" for count in (6, 7, 5)]
        body = f"<h1>{title}</h1>{paragraphs[0]}{paragraphs[1]}{format_html(rows, style)}<h2>{second}</h2>"
        body += f'<div class="{"two" if number % 2 else ""}">{"".join(middle)}</div>'
        css = CSS.replace("VAR", "left" if is_text else "right")
        source = folder / f"{page.name}.html"
        source.write_text(f'<html lang="en"><meta charset="utf-8"><title>{title}</title><style>{css}</style>{body}')
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        target = folder / f"{page.name}.pdf"
        subprocess.run([*command, f"--print-to-pdf={target}", source.as_uri()], check=True, capture_output=True)  # noqa: S603
        source.unlink()
        page.write_truth(folder)


def make_painted(folder: Path) -> None:
    """Paint lines of two columns alternately, as recognized scans and some programs do."""
    for number in range(6):
        draw, page = TextGenerator(9000 + number), GeneratedPage(f"painted-{number + 1:02}")
        pdf = canvas.Canvas(str(folder / f"{page.name}.pdf"), pagesize=(595, 842), invariant=1)
        title = draw.draw_title()
        page.headings.append(title)
        pdf.setFont("Helvetica-Bold", 15)
        pdf.drawString(60, 780, title)
        columns = [[page.add_paragraph(draw.draw_paragraph(count)) for count in (6, 7, 6)] for _ in range(2)]
        size, leadings = 9, ((12, 12), (12, 12.8), (11.5, 13))[number % 3]
        placed = []
        for column, paragraphs in enumerate(columns):
            y = 750.0
            for paragraph in paragraphs:
                for line in split_text(pdf, paragraph, size, 225):
                    placed.append((60 + 250 * column, y, line))
                    y -= leadings[column]
                y -= 5
        pdf.setFont("Times-Roman", size)
        for x, y, line in sorted(placed, key=lambda piece: -piece[1]) if number < 3 else placed:
            pdf.drawString(x, y, line)
        pdf.save()
        page.write_truth(folder)


def split_text(pdf: canvas.Canvas, text: str, size: float, width: float) -> list[str]:
    """Break a text into lines."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if pdf.stringWidth(longer, "Times-Roman", size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def main() -> None:
    """Write the corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    make_typst(folder)
    make_painted(folder)
    browser = shutil.which("chromium")
    if not browser:
        sys.exit("chromium is not installed: the pages web-* were not made")
    make_web(folder, browser)


if __name__ == "__main__":
    main()
