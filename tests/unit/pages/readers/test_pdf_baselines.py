"""PDF: subscripts and superscripts that PDFium takes for separate lines."""

from outrider.pages.readers.pdf_layout.baselines import merge_script_lines
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine


def line(text: str, left: float, right: float, bottom: float = 100, *, size: float = 10) -> PdfLine:
    return PdfLine((PdfCell(text, left, right),), bottom, bottom + size, size)


def texts(*lines: PdfLine) -> list[str]:
    return [each.text for each in merge_script_lines(list(lines))]


def test_an_exponent_an_index_and_what_goes_on_behind_them_are_one_line():
    found = texts(
        line("the space S", 0, 60), line("new", 60, 74, 104, size=8), line("k", 60, 64, 96, size=8),
        line("(x) of forms", 75, 130), line("is old", 0, 40, 86),
    )  # fmt: skip
    assert found == ["the space S^new_k(x) of forms", "is old"]


def test_digits_have_signs_for_that():
    assert texts(line("10", 0, 10), line("12", 10, 18, 105, size=7), line("years", 22, 50)) == ["10¹² years"]
    assert texts(line("CO", 0, 10), line("2", 10, 14, 96, size=7), line("now", 17, 40)) == ["CO₂ now"]


def test_what_stands_apart_or_is_as_large_is_no_index():
    assert texts(line("the light", 0, 60), line("Fig. 2", 120, 140, 103, size=7)) == ["the light", "Fig. 2"]
    assert texts(line("the light", 0, 60), line("new", 60, 74, 104)) == ["the light", "new"]
    assert texts(line("the light", 0, 60), line("a note", 55, 74, 80, size=7)) == ["the light", "a note"]
