"""PDF: check boxes and radio buttons of forms, and drawn ones."""

import pytest

from support.documents.office_files import read_document
from support.documents.pdf_files import build_pdf_page, draw_text

MARKS = {
    "cross": "{x} 1 m {x1} 9 l {x} 9 m {x1} 1 l S", "tick": "{x} 5 m {x0} 1 l {x1} 9 l S", "block": "{x} 2 6 6 re f",
    "second outline": "0.5 w {x} 1 9 9 re S",
}  # fmt: skip


def read_words(pdf: bytes) -> str:
    """The text on one line, without the line that says the page."""
    return " ".join(read_document(pdf).markdown.partition("---\n\n")[2].split())


def draw_box(x: float, y: float, label: str, mark: str = "") -> str:
    """A square of 10 points with a mark of `MARKS` or a letter, and its label on the right."""
    shape = MARKS.get(mark, "").format(x=2, x0=4, x1=9)
    inner = f"q 1 0 0 1 {x - 0.5} {y - 2} cm {shape} Q\n" if shape else draw_text(x + 2, y, mark) if mark else ""
    return f"{x} {y - 2} 10 10 re S\n{inner}{draw_text(x + 15, y, label)}"


def test_drawn_boxes_say_whether_they_are_ticked():
    rows = {"Fire": "cross", "Water": "", "Storm": "tick", "Theft": "second outline", "Glass": "block", "Hail": "X"}
    drawn = "".join(draw_box(72, 700 - 20 * at, label, mark) for at, (label, mark) in enumerate(rows.items()))
    row = draw_text(72, 560, "Insured:") + draw_box(130, 560, "yes", "cross") + draw_box(200, 560, "no")
    words = read_words(build_pdf_page(drawn + row))
    assert words == "☒ Fire ☐ Water ☒ Storm ☐ Theft ☒ Glass ☒ Hail Insured: ☒ yes ☐ no"


@pytest.mark.parametrize(
    "shapes",
    [
        "72 698 10 10 re S\n",
        "".join(f"{72 + 10 * n} 698 10 10 re S\n" for n in range(6)),
        "".join(f"72 {698 - 20 * n} 10 10 re f\n" for n in range(3)),
    ],
)
def test_single_squares_fields_for_letters_and_bullets_are_not_check_boxes(shapes: str):
    words = "".join(draw_text(140, 700 - 20 * at, text) for at, text in enumerate(("Code", "Two", "Three")))
    assert read_words(build_pdf_page(shapes + words)) == "Code Two Three"


def test_fields_of_a_form_say_whether_they_are_ticked():
    state = "/AP << /N << /On 9 0 R /Off 9 0 R >> >>"
    box = "<< /Type /Annot /Subtype /Widget /FT /Btn /F 4 {rect} /T ({name}) {value} " + state + " >>"
    button = "<< /Type /Annot /Subtype /Widget /Parent 10 0 R /F 4 {rect} {value} " + state + " >>"
    objects = [
        box.format(rect="/Rect [72 698 82 708]", name="news", value="/V /On /AS /On"),
        box.format(rect="/Rect [72 678 82 688]", name="paper", value="/V /Off /AS /Off"),
        button.format(rect="/Rect [110 638 120 648]", value="/AS /Off"),
        button.format(rect="/Rect [170 638 180 648]", value="/AS /On"),
        "<< /Type /XObject /Subtype /Form /BBox [0 0 10 10] /Length 0 >>\nstream\n\nendstream",
        "<< /FT /Btn /Ff 32768 /T (sex) /V /On /Kids [7 0 R 8 0 R] >>",
    ]
    words = {(88, 700): "News", (88, 680): "Paper", (72, 640): "Sex:", (124, 640): "male", (184, 640): "female"}
    content = "".join(draw_text(x, y, text) for (x, y), text in words.items())
    page = build_pdf_page(
        content,
        "/Annots [5 0 R 6 0 R 7 0 R 8 0 R]",
        *objects,
        catalog="/AcroForm << /Fields [5 0 R 6 0 R 10 0 R] >>",
    )
    assert read_words(page) == "☒ News ☐ Paper Sex: ☐ male ☒ female"


@pytest.mark.parametrize(
    ("font", "signs"),
    [
        ("/Type1 /BaseFont /ZapfDingbats", {"o": "☐", "q": "☐", "4": "✔", "8": "✘"}),
        ("/TrueType /BaseFont /Wingdings /Encoding /WinAnsiEncoding", {"o": "☐", "x": "☒", "\\376": "☑"}),
        ("/Type1 /BaseFont /ZapfHumanist", {"o": "o", "4": "4"}),
    ],
)
def test_boxes_of_symbol_fonts_are_signs(font: str, signs: dict[str, str]):
    helvetica = "/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    fonts = f"/Resources << /Font << {helvetica} /F9 << /Type /Font /Subtype {font} >> >> >>"
    rows = "".join(
        draw_text(72, 700 - 30 * at, code, font="F9") + draw_text(92, 700 - 30 * at, "Lamp")
        for at, code in enumerate(signs)
    )
    words = read_words(build_pdf_page(rows, fonts))
    assert words.split("Lamp")[:-1] == [f"{' ' * bool(at)}{sign} " for at, sign in enumerate(signs.values())]
