"""PDF: subscripts and superscripts that PDFium takes for separate lines."""

from outrider.pages.readers.pdf_layout.baselines import merge_script_lines
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine


def build_line(text: str, left: float, right: float, bottom: float = 100, *, size: float = 10) -> PdfLine:
    return PdfLine((PdfCell(text, left, right),), bottom, bottom + size, size)


def merge_texts(*lines: PdfLine) -> list[str]:
    return [each.text for each in merge_script_lines(list(lines))]


def test_a_base_line_with_exponent_index_and_continuation_is_one_line():
    found = merge_texts(
        build_line("the space S", 0, 60), build_line("new", 60, 74, 104, size=8), build_line("k", 60, 64, 96, size=8),
        build_line("(x) of forms", 75, 130), build_line("is old", 0, 40, 86),
    )  # fmt: skip
    assert found == ["the space S^new_k(x) of forms", "is old"]


def test_digits_become_superscript_and_subscript_characters():
    assert merge_texts(build_line("10", 0, 10), build_line("12", 10, 18, 105, size=7), build_line("years", 22, 50)) == [
        "10¹² years"
    ]
    assert merge_texts(build_line("CO", 0, 10), build_line("2", 10, 14, 96, size=7), build_line("now", 17, 40)) == [
        "CO₂ now"
    ]


def test_distant_or_equally_large_text_is_not_an_index():
    assert merge_texts(build_line("the light", 0, 60), build_line("Fig. 2", 120, 140, 103, size=7)) == [
        "the light",
        "Fig. 2",
    ]
    assert merge_texts(build_line("the light", 0, 60), build_line("new", 60, 74, 104)) == ["the light", "new"]
    assert merge_texts(build_line("the light", 0, 60), build_line("a note", 55, 74, 80, size=7)) == [
        "the light",
        "a note",
    ]
