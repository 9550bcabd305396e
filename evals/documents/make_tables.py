"""Generate pages with many kinds of tables, and pages that only look like tables.

    python -m evals.documents.make_tables FOLDER

It needs ReportLab, WeasyPrint and Typst (`pip install reportlab weasyprint typst`) and a Chromium. Words and numbers
are drawn as in `make_pages`. Rules are tuned on `FOLDER/dev`, written by Chromium, Typst and ReportLab. `FOLDER/test`
is held out: pages by WeasyPrint, other kinds by ReportLab, and kinds missing in `dev`.
"""

import argparse
import html
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import typst  # ty: ignore[unresolved-import]
import weasyprint  # ty: ignore[unresolved-import]
from reportlab.lib.pagesizes import A4  # ty: ignore[unresolved-import]
from reportlab.lib.styles import getSampleStyleSheet  # ty: ignore[unresolved-import]
from reportlab.pdfbase import pdfmetrics  # ty: ignore[unresolved-import]
from reportlab.pdfbase.cidfonts import UnicodeCIDFont  # ty: ignore[unresolved-import]
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer  # ty: ignore[unresolved-import]
from reportlab.platypus import Table as FlowTable  # ty: ignore[unresolved-import]

from evals.documents.make_pages import (
    GROUPS,
    NOUNS,
    GeneratedPage,
    Table,
    TextGenerator,
    find_spans,
    format_page_settings,
    format_typst,
)

YEARS = ("2021", "2022", "2023", "2024", "2025")


def draw_price_list(draw: TextGenerator) -> Table:
    rows = [[f"{noun[:2].upper()}-{draw.random.randint(100, 999)}", draw.draw_sentence(), draw_amount(draw)]
            for noun in draw.random.sample(NOUNS, 5)]  # fmt: skip
    return [["Article", "Description", "Price"], *rows]


def draw_timetable(draw: TextGenerator) -> Table:
    rows = [["Stop", *(f"{draw.random.randint(10, 99)}" for _ in range(6))]]
    for index, noun in enumerate(draw.random.sample(NOUNS, 8)):
        times = [f"{7 + column}:{5 * index + column:02}" if draw.random.random() < 0.8 else "–" for column in range(6)]
        rows.append([noun.title(), *times])
    return rows


def draw_statement(draw: TextGenerator) -> Table:
    rows = [["", "Note", "2024", "2023"]]
    for number, group in enumerate(("Current assets", "Liabilities", "Equity")):
        rows.append([group, "", "", ""])
        for noun in draw.random.sample(NOUNS, 3):
            amounts = [f"({draw.random.randint(10, 900)})" if draw.random.random() < 0.3 else draw_amount(draw)[:-3]
                       for _ in range(2)]  # fmt: skip
            rows.append([f"{noun.title()} and other {draw.pick_word(NOUNS)}s", str(number + 3), *amounts])
        rows.append([f"Total {group.lower()}", "", draw_amount(draw)[:-3], draw_amount(draw)[:-3]])
    return rows


def draw_two_level_statistics(draw: TextGenerator) -> Table:
    groups = draw.random.sample(GROUPS, 3)
    rows = [["Measure", *(group for group in groups for _ in range(2))], ["Measure", *(["Mean", "SD"] * 3)]]
    rows += [[f"{noun.title()} rate", *(f"{draw.random.random() * 9:.2f}" for _ in range(6))]
             for noun in draw.random.sample(NOUNS, 7)]  # fmt: skip
    return rows


def draw_items(draw: TextGenerator) -> Table:
    rows = [["Pos.", "Description", "Quantity", "Unit price", "Amount"]]
    for number in range(1, 5):
        text = f"{draw.pick_word(NOUNS).title()} {draw.pick_word(NOUNS)}, {draw.draw_sentence()[4:-1]}" if number % 2 else (
            f"{draw.pick_word(NOUNS).title()} {draw.pick_word(NOUNS)}")  # fmt: skip
        rows.append([str(number), text, f"{draw.random.randint(1, 40)}", draw_amount(draw), draw_amount(draw)])
    return rows


def draw_statistics(draw: TextGenerator) -> Table:
    rows = [["Region", *YEARS]]
    rows += [[f"{noun.title()} county", *(f"{draw.random.randint(1000, 90000):,}" for _ in YEARS)]
             for noun in draw.random.sample(NOUNS, 9)]  # fmt: skip
    return [*rows, ["All counties", *(f"{draw.random.randint(100000, 900000):,}" for _ in YEARS)]]


def draw_prose_table(draw: TextGenerator) -> Table:
    rows = [["Step", "Task", "Remark"]]
    rows += [
        [f"{noun.title()} check", draw.draw_sentence(), draw.draw_sentence()] for noun in draw.random.sample(NOUNS, 4)
    ]
    return rows


def draw_ranking(draw: TextGenerator) -> Table:
    rows = [["Rank", "Name", "Team", "Points"]]
    rows += [[str(rank), f"{noun.title()} {draw.pick_word(NOUNS).title()}", draw.pick_word(GROUPS), str(990 - 31 * rank)]
             for rank, noun in enumerate(draw.random.sample(NOUNS, 9), 1)]  # fmt: skip
    return rows


def draw_terms(draw: TextGenerator) -> Table:
    return [["Term", "Meaning"], *([noun.title(), draw.draw_paragraph(2)] for noun in draw.random.sample(NOUNS, 5))]


def draw_measures(draw: TextGenerator) -> Table:
    rows = [["Sample", "Depth (m)", "Salt (g/l)", "Range"]]
    for noun in draw.random.sample(NOUNS, 8):
        low = draw.random.randint(2, 40)
        numbers = f"{draw.random.random() * 30:.2f} ± {draw.random.random():.2f}", f"{draw.random.random():.3f}"
        rows.append([f"{noun.title()} {low}", *numbers, f"{low}–{low + 7}"])
    return rows


def draw_answers(draw: TextGenerator) -> Table:
    rows = [["Feature", "Basic", "Plus", "Team", "Firm"]]
    rows += [[f"{draw.pick_word(NOUNS).title()} {noun}", *(draw.pick_word(("yes", "no", "partly")) for _ in range(4))]
             for noun in draw.random.sample(NOUNS, 8)]  # fmt: skip
    return rows


def draw_schedule(draw: TextGenerator) -> Table:
    rows = [
        [f"{hour}:00–{hour}:45", f"{draw.draw_sentence()} Led by {draw.pick_word(NOUNS).title()}."]
        for hour in range(9, 15)
    ]
    return [["Time", "Session"], *rows]


def draw_records(draw: TextGenerator) -> Table:
    rows = [["Date", "Payee", "Reference", "Amount", "State"]]
    for noun in draw.random.sample(NOUNS, 9):
        day = f"2024-{draw.random.randint(1, 12):02}-{draw.random.randint(1, 28):02}"
        number = f"{noun[0].upper()}{draw.random.randint(1000, 9999)}" if draw.random.random() < 0.7 else ""
        rows.append(
            [day, f"{noun.title()} & Sons", number, draw_amount(draw), draw.pick_word(("paid", "open", "late"))]
        )
    return rows


def draw_merged(draw: TextGenerator) -> Table:
    rows = [["Coast", "Harbour", "Boats", "Boats"], ["Coast", "Harbour", "Sail", "Motor"]]
    for group in draw.random.sample(GROUPS, 3):
        rows += [[group, noun.title(), str(draw.random.randint(1, 99)), str(draw.random.randint(1, 99))]
                 for noun in draw.random.sample(NOUNS, 3)]  # fmt: skip
    return rows


def draw_hebrew(draw: TextGenerator) -> Table:
    words = ("נמל", "מגדל", "ספינה", "חוף", "שוק", "גשר", "גן", "כפר", "עמק", "רכבת")
    rows = [["מקום", "שנה", "מספר"]]
    return rows + [
        [word, draw.pick_word(YEARS), str(draw.random.randint(10, 999))] for word in draw.random.sample(words, 6)
    ]


def draw_japanese(draw: TextGenerator) -> Table:
    words = ("東京", "大阪", "札幌", "京都", "名古屋", "福岡", "神戸", "横浜")
    rows = [["都市", "人口", "面積", "備考"]]
    return rows + [[word, f"{draw.random.randint(100, 999)}万", f"{draw.random.randint(10, 99)}.{draw.random.randint(1, 9)}",
                    draw.pick_word(("港町", "古都", "商業都市"))] for word in draw.random.sample(words, 6)]  # fmt: skip


def draw_amount(draw: TextGenerator) -> str:
    return f"{draw.random.randint(10, 9999):,}.{draw.random.randint(0, 99):02}"


@dataclass(frozen=True)
class Kind:
    """A kind of table with its drawing rules."""

    draw: Callable[[TextGenerator], Table]
    style: str  # grid, rows, head, booktabs, bare, striped or columns
    widths: tuple[int, ...] = ()  # of columns in points; 0 for the width of the text
    note: str = ""


KINDS = {
    "prices-bare": Kind(draw_price_list, "bare", (60, 240, 60)),
    "prices-rows": Kind(draw_price_list, "rows", (60, 200, 80)),
    "timetable-bare": Kind(draw_timetable, "bare"),
    "timetable-rows": Kind(draw_timetable, "rows"),
    "timetable-striped": Kind(draw_timetable, "striped"),
    "statement-bare": Kind(draw_statement, "bare"),
    "statement-head": Kind(draw_statement, "head"),
    "levels-booktabs": Kind(draw_two_level_statistics, "booktabs"),
    "levels-bare": Kind(draw_two_level_statistics, "bare"),
    "items-head": Kind(draw_items, "head", (35, 190, 60, 70, 70)),
    "items-bare": Kind(draw_items, "bare", (35, 190, 60, 70, 70)),
    "statistics-bare": Kind(draw_statistics, "bare", note="Source: registers of the counties, own count."),
    "statistics-booktabs": Kind(draw_statistics, "booktabs", note="¹ Preliminary."),
    "prose-bare": Kind(draw_prose_table, "bare", (80, 170, 170)),
    "prose-rows": Kind(draw_prose_table, "rows", (80, 150, 190)),
    "ranking-bare": Kind(draw_ranking, "bare"),
    "ranking-columns": Kind(draw_ranking, "columns"),
    "terms-rows": Kind(draw_terms, "rows", (80, 330)),
    "terms-head": Kind(draw_terms, "head", (80, 330)),
    "measures-booktabs": Kind(draw_measures, "booktabs"),
    "measures-striped": Kind(draw_measures, "striped"),
    "merged-grid": Kind(draw_merged, "grid"),
}
KINDS_APART = {
    "answers-bare": Kind(draw_answers, "bare"),
    "answers-rows": Kind(draw_answers, "rows"),
    "schedule-head": Kind(draw_schedule, "head", (90, 300)),
    "schedule-rows": Kind(draw_schedule, "rows", (90, 300)),
    "records-bare": Kind(draw_records, "bare"),
    "records-columns": Kind(draw_records, "columns"),
    "merged-booktabs": Kind(draw_merged, "booktabs"),
}

# Pages without a table, as HTML.


def draw_contents(draw: TextGenerator) -> str:
    lines = [
        f"<div class=toc><span>{number} {draw.draw_title()}</span><span class=dots></span><span>{3 * number}</span></div>"
        for number in range(1, 14)
    ]
    return "<h2>Contents</h2>" + "".join(lines)


def draw_references(draw: TextGenerator) -> str:
    items = [
        f"<tr><td>[{number}]</td><td>{draw.pick_word(NOUNS).title()}, A.: {draw.draw_sentence()} {draw.draw_title()}, 20{number + 10},"
        f" pp. {number}–{number + 8}.</td></tr>"
        for number in range(1, 10)
    ]
    return f"<p>{draw.draw_paragraph()}</p><h2>References</h2><table class=plain>{''.join(items)}</table>"


def draw_formulas(draw: TextGenerator) -> str:
    lines = [
        f"<tr><td>{left}</td><td>=</td><td>{right}</td><td width=60>({number})</td></tr>"
        for number, (left, right) in enumerate(
            (("f(x)", "3x + 4y"), ("g(x, y)", "x² − 2y"), ("h", "f(x) + g(x, y)"), ("k", "h / 2")), 1)
    ]  # fmt: skip
    return f"<p>{draw.draw_paragraph()}</p><table class=plain>{''.join(lines)}</table><p>{draw.draw_paragraph()}</p>"


def draw_letter(draw: TextGenerator) -> str:
    sides = [
        f"<td width=250>{draw.pick_word(NOUNS).title()} {draw.pick_word(NOUNS).title()}<br>{draw.random.randint(1, 99)} "
        f"{draw.pick_word(NOUNS).title()} Street<br>{draw.random.randint(10000, 99999)} {draw.pick_word(NOUNS).title()}</td>"
        for _ in range(2)
    ]
    return (
        f"<table class=plain><tr>{''.join(sides)}</tr></table><p style='text-align:right'>12 March 2024</p>"
        f"<p><b>{draw.draw_title()}</b></p><p>Dear reader,</p><p>{draw.draw_paragraph()}</p><p>{draw.draw_paragraph()}</p>"
    )


def draw_notes(draw: TextGenerator) -> str:
    boxes = [f"<div class=box>{draw.draw_paragraph(3)}</div><p>{draw.draw_paragraph(3)}</p>" for _ in range(3)]
    return f"{''.join(boxes)}<p>{draw.draw_sentence()} <u>{draw.draw_sentence()}</u> <span class=box>{draw.draw_sentence()}</span></p>"


def draw_numbered_list(draw: TextGenerator) -> str:
    items = [f"<li>{draw.draw_sentence()} <b>{draw.draw_number()}</b></li>" for _ in range(9)]
    return f"<p>{draw.draw_paragraph()}</p><ol>{''.join(items)}</ol><p>{draw.draw_paragraph()}</p>"


def draw_listing(draw: TextGenerator) -> str:
    lines = [f"{draw.pick_word(NOUNS):14}{draw.random.randint(1, 99):5}   # {draw.pick_word(NOUNS)}" for _ in range(9)]
    return f"<p>{draw.draw_paragraph()}</p><pre>{chr(10).join(lines)}</pre><p>{draw.draw_paragraph()}</p>"


def draw_index(draw: TextGenerator) -> str:
    words = sorted(draw.random.sample(NOUNS, 28))
    lines = [f"<div>{word}, {draw.random.randint(1, 90)}, {draw.random.randint(91, 300)}</div>" for word in words]
    return f"<h2>Index</h2><div style='columns:3'>{''.join(lines)}</div>"


def draw_letterhead(draw: TextGenerator) -> str:
    cells = [f"<td width=160>{draw.pick_word(NOUNS).title()} office<br>Telephone {draw.random.randint(100, 999)} 0<br>"
             f"Room {draw.random.randint(1, 99)}</td>" for _ in range(3)]  # fmt: skip
    return f"<p>{draw.draw_paragraph()}</p><p>{draw.draw_paragraph()}</p><table class=plain><tr>{''.join(cells)}</tr></table>"


def draw_dialogue(draw: TextGenerator) -> str:
    lines = [f"<p style='margin-left:90px;text-indent:-90px'><b>{name}</b><span style='display:inline-block;width:50px'>"
             f"</span>{draw.draw_paragraph(2)}</p>" for name in ("KEEPER", "PILOT") * 4]  # fmt: skip
    return "".join(lines)


TABLELESS_PAGES = {
    "contents": draw_contents, "references": draw_references, "formulas": draw_formulas, "letter": draw_letter,
    "notes": draw_notes, "listing": draw_listing,
}  # fmt: skip
TABLELESS_PAGES_APART = {
    "list": draw_numbered_list, "index": draw_index, "letterhead": draw_letterhead, "dialogue": draw_dialogue,
}  # fmt: skip

CSS = """@page { size: A4; margin: 20mm } body { font: 10pt/1.3 'Liberation Sans', 'DejaVu Sans'; text-align: justify }
table { border-collapse: collapse; margin: 9px 0; text-align: left } td, th { padding: 3px 9px; vertical-align: top }
th { font-weight: WEIGHT } .grid td, .grid th { border: 1px solid #333 } .plain td { padding: 1px 8px }
.rows td, .rows th { border-bottom: 1px solid #888 } .head th, .booktabs th { border-bottom: 1px solid }
.booktabs { border-top: 1.5px solid; border-bottom: 1.5px solid } .striped tr:nth-child(even) td { background: #e6e6ee }
.columns td + td, .columns th + th { border-left: 1px solid #555 } .right { text-align: right }
.box { border: 1px solid; padding: 4px } .toc { display: flex } .dots { flex: 1; overflow: hidden; white-space: nowrap }
.dots::after { content: " . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . ." }
.beside { display: flex; gap: 50px } pre { font: 8.5pt 'Liberation Mono' }"""


def format_html(rows: Table, kind: Kind) -> str:
    """Return a table as HTML, numbers aligned on the right."""
    heads = 2 if rows[0][0] == rows[1][0] and rows[0][0] else 1
    lines: dict[int, str] = {}
    for row, column, tall, wide, text in find_spans(rows):
        tag = "th" if row < heads else "td"
        width = f" width={kind.widths[column] * 1.33:.0f}" if kind.widths else ""
        side = " class=right" if column and is_number_column(rows, column) else ""
        cell = f"<{tag}{width}{side} rowspan={tall} colspan={wide}>{html.escape(text)}</{tag}>"
        lines[row] = lines.get(row, "") + cell
    body = "".join(f"<tr>{lines.get(row, '')}</tr>" for row in range(len(rows)))
    return f"<table class={kind.style}>{body}</table>"


def is_number_column(rows: Table, column: int) -> bool:
    return any(map(str.isdigit, rows[-1][column][:2]))


@dataclass
class Corpus:
    """Write pages and their truth into a folder."""

    folder: Path
    browser: str = ""
    count: int = field(default=0)

    def write_html(self, page: GeneratedPage, body: str, extra: str = "") -> None:
        css = CSS.replace("WEIGHT", "normal" if zlib.crc32(page.name.encode()) % 3 == 0 else "bold")
        source = f'<html lang="en"{extra}><meta charset="utf-8"><title>Page</title><style>{css}</style>{body}'
        target = self.folder / f"{page.name}.pdf"
        if not self.browser:
            weasyprint.HTML(string=source).write_pdf(target)
        else:
            path = target.with_suffix(".html")
            path.write_text(source)
            command = [self.browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
            subprocess.run([*command, f"--print-to-pdf={target}", path.as_uri()], check=True, capture_output=True)  # noqa: S603
            path.unlink()
        self._finish(page)

    def write_tables(self, name: str, kinds: list[Kind], draw: TextGenerator, *, beside: bool = False) -> None:
        """Write tables between two paragraphs, below or next to each other."""
        page = GeneratedPage(name)
        page.tables = [kind.draw(draw) for kind in kinds]
        body = "".join(format_html(rows, kind) for rows, kind in zip(page.tables, kinds, strict=True))
        note = f"<p>{kinds[0].note}</p>" if kinds[0].note else ""
        body = f"<div class=beside>{body}</div>" if beside else body
        before, after = page.add_paragraph(draw.draw_paragraph(3)), page.add_paragraph(draw.draw_paragraph(4))
        self.write_html(page, f"<p>{before}</p>{body}{note}<p>{after}</p>")

    def write_flow(self, name: str, kind: Kind, draw: TextGenerator) -> None:
        """Write a table by ReportLab."""
        page = GeneratedPage(name)
        rows = kind.draw(draw)
        page.tables = [rows]
        is_japanese = kind.draw is draw_japanese
        sheet = getSampleStyleSheet()["BodyText"]
        font = "HeiseiKakuGo-W5" if is_japanese else "Helvetica"
        style: list[tuple[object, ...]] = [("FONT", (0, 0), (-1, -1), font, 9), ("VALIGN", (0, 0), (-1, -1), "TOP")]
        cells: list[list[object]] = [[""] * len(rows[0]) for _ in rows]
        for row, column, tall, wide, text in find_spans(rows):
            long = kind.widths and len(text) * 5 > kind.widths[column]
            cells[row][column] = Paragraph(text, sheet) if long else text
            if tall > 1 or wide > 1:
                style.append(("SPAN", (column, row), (column + wide - 1, row + tall - 1)))
        style += [("ALIGN", (at, 0), (at, -1), "RIGHT") for at in range(1, len(rows[0])) if is_number_column(rows, at)]
        style += list_flow_rules(kind.style, 2 if rows[0][0] == rows[1][0] and rows[0][0] else 1)
        parts = [Paragraph(page.add_paragraph(draw.draw_paragraph(3)), sheet)] if not is_japanese else []
        parts += [FlowTable(cells, colWidths=kind.widths or None, style=style), Spacer(1, 8)]
        parts += [Paragraph(page.add_paragraph(draw.draw_paragraph(4)), sheet)] if not is_japanese else []
        SimpleDocTemplate(str(self.folder / f"{name}.pdf"), pagesize=A4, invariant=1).build(parts)
        self._finish(page)

    def write_typst(self, name: str, kind: Kind, draw: TextGenerator) -> None:
        """Write a table by Typst."""
        page = GeneratedPage(name)
        rows = kind.draw(draw)
        page.tables = [rows]
        widths = ", ".join(f"{width}pt" if width else "auto" for width in kind.widths)
        number = zlib.crc32(name.encode())
        before, after = page.add_paragraph(draw.draw_paragraph(3)), page.add_paragraph(draw.draw_paragraph(4))
        source = f"{format_page_settings(number)}{before}\n\n{format_typst(rows, kind.style, f'({widths})' if widths else '')}\n{after}\n"
        document = typst.compile(source.encode(), format="pdf", timestamp=0, pdf_standards="1.7")
        (self.folder / f"{name}.pdf").write_bytes(document)
        self._finish(page)

    def _finish(self, page: GeneratedPage) -> None:
        page.write_truth(self.folder)
        self.count += 1


def list_flow_rules(style: str, heads: int) -> list[tuple[object, ...]]:
    """Return the rules of a table as commands of ReportLab."""
    black = (0, 0, 0)
    return {
        "grid": [("GRID", (0, 0), (-1, -1), 0.5, black)],
        "rows": [("LINEBELOW", (0, 0), (-1, -1), 0.5, black)],
        "head": [("LINEBELOW", (0, heads - 1), (-1, heads - 1), 0.7, black)],
        "booktabs": [
            ("LINEABOVE", (0, 0), (-1, 0), 1, black),
            ("LINEBELOW", (0, heads - 1), (-1, heads - 1), 0.5, black),
            ("LINEBELOW", (0, -1), (-1, -1), 1, black),
        ],
        "striped": [("ROWBACKGROUNDS", (0, 1), (-1, -1), [(0.9, 0.9, 0.93), (1, 1, 1)])],
        "columns": [("LINEAFTER", (0, 0), (-2, -1), 0.5, black)],
    }.get(style, [])


def make_dev(folder: Path, browser: str) -> int:
    """Write the pages for tuning rules."""
    corpus = Corpus(folder, browser)
    for number, (name, kind) in enumerate(KINDS.items()):
        if number % 2:
            corpus.write_flow(f"{name}-reportlab", kind, TextGenerator(250 + number))
        else:
            corpus.write_tables(f"{name}-chromium", [kind], TextGenerator(100 + number))
            corpus.write_typst(f"{name}-typst", kind, TextGenerator(200 + number))
    beside = [Kind(draw_measures, "grid"), Kind(draw_ranking, "grid")]
    corpus.write_tables("beside-grid-chromium", beside, TextGenerator(301), beside=True)
    for number, (name, draw_plain) in enumerate(TABLELESS_PAGES.items()):
        corpus.write_html(GeneratedPage(f"plain-{name}-chromium"), draw_plain(TextGenerator(400 + number)))
    return corpus.count


def make_test(folder: Path) -> int:
    """Write the held-out pages."""
    corpus = Corpus(folder)
    for number, (name, kind) in enumerate((KINDS | KINDS_APART).items()):
        if number % 2 or name in KINDS_APART:
            corpus.write_tables(f"{name}-weasyprint", [kind], TextGenerator(500 + number))
        if number % 2 == 0 or name in KINDS_APART:
            corpus.write_flow(f"{name}-reportlab", kind, TextGenerator(600 + number))
    beside = [Kind(draw_ranking, "rows"), Kind(draw_measures, "rows")]
    corpus.write_tables("beside-rows-weasyprint", beside, TextGenerator(701), beside=True)
    hebrew = TextGenerator(702)
    page = GeneratedPage("hebrew-grid-weasyprint", [draw_hebrew(hebrew)])
    corpus.write_html(page, format_html(page.tables[0], Kind(draw_hebrew, "grid")), ' dir="rtl"')
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiKakuGo-W5"))
    for number, style in enumerate(("grid", "rows", "bare")):
        corpus.write_flow(f"japanese-{style}-reportlab", Kind(draw_japanese, style), TextGenerator(710 + number))
    for number, (name, draw_plain) in enumerate((TABLELESS_PAGES | TABLELESS_PAGES_APART).items()):
        corpus.write_html(GeneratedPage(f"plain-{name}-weasyprint"), draw_plain(TextGenerator(800 + number)))
    return corpus.count


def main() -> None:
    """Write both halves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    browser = shutil.which("chromium")
    if not browser:
        sys.exit("chromium is not installed")
    for half in ("dev", "test"):
        (folder / half).mkdir(parents=True, exist_ok=True)
    print(make_dev(folder / "dev", browser), "and", make_test(folder / "test"), "pages")


if __name__ == "__main__":
    main()
