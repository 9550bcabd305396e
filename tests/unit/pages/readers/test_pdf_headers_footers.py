"""PDF: headers, footers, footnotes, and text that is painted in another order."""

import pytest

from support.documents.office_files import read_document
from support.documents.pdf_files import build_pdf_page, build_unicode_pdf, draw_text
from support.fakes.website import build_positioned_pdf

LOREM = "The tide comes in twice a day and the boats rise with it until the"


def strip_page_line(text: str) -> str:
    return text.partition("---\n\n")[2]


def read_pages(heads: list[list[tuple[int, int, int, str]]]) -> str:
    """Return the Markdown of pages with two lines each below these headers."""
    made = [[*head, (72, 700, 11, LOREM), (72, 687, 11, f"bell {at} rings.")] for at, head in enumerate(heads)]
    return read_document(build_positioned_pdf(*made)).markdown


def test_headers_with_changing_words_are_recognised_by_position():
    heads = [
        [(72, 760, 9, "Tides"), (500, 760, 9, "1")],
        [(72, 760, 9, "2"), (400, 760, 9, "The Harbour Times")],
        [(72, 760, 9, "Lights at night"), (500, 760, 9, "3")],
        [(72, 760, 9, "4"), (400, 760, 9, "The Harbour Times")],
    ]
    markdown = read_pages(heads)
    assert not any(word in markdown for word in ("Tides", "Lights", "Times"))
    assert markdown.count(LOREM) == 4


def test_footers_with_dates_and_numbers_are_recognised_by_shape():
    markdown = read_pages([[(200, 40, 8, f"Page {at} of 3 - draft of 2024-03-0{at}")] for at in (1, 2, 3)])
    assert "draft" not in markdown


def test_slide_titles_at_the_same_position_are_kept():
    names = "Ebb", "Flood", "Wind", "Fog"
    markdown = read_pages([[(72, 750, 24, name)] for name in names])
    assert all(f"# {name}" in markdown for name in names)


def test_first_lines_at_the_same_position_are_kept():
    made = [[(72, 745 - 13 * at, 11, f"{number} {at} {LOREM}") for at in range(8)] for number in "abcd"]
    markdown = read_document(build_positioned_pdf(*made)).markdown
    assert all(f"{number} 0 {LOREM}" in markdown for number in "abcd")


def test_footnotes_are_matched_per_page_and_numbered_through_the_document():
    def draw_noted_page(number: str, note: str) -> list[tuple[int, int, int, str]]:
        return [(72, 700, 11, f"The light is old.{number} It burns."), (72, 60, 8, f"{number} {note}")]

    more = [(72, 700 - 13 * at, 11, f"{at} {LOREM}") for at in range(9)]
    markdown = read_document(
        build_positioned_pdf(draw_noted_page("1", "Since 1871."), more, draw_noted_page("1", "At night."))
    ).markdown
    assert "The light is old.[^1] It burns.\n\n[^1]: Since 1871.\n\n--- page 2" in markdown
    assert markdown.endswith("The light is old.[^2] It burns.\n\n[^2]: At night.")


@pytest.mark.parametrize("note", ["1 Since 1871.", "Since 1871."])
def test_small_type_without_a_reference_is_not_a_footnote(note: str):
    lines = [(72, 700, 11, LOREM), (72, 687, 11, "bell rings at noon and at night."), (72, 60, 8, note)]
    assert "[^" not in read_document(build_positioned_pdf(lines)).markdown


def test_an_exponent_is_not_a_footnote_reference():
    content = (
        draw_text(72, 700, "About 10")
        + draw_text(116.5, 704, "2", size=6)
        + draw_text(122, 700, " boats rise with the tide.")
        + draw_text(72, 60, "2 Nothing.", size=8)
    )  # fmt: skip
    assert "10²" in read_document(build_pdf_page(content)).markdown


def test_pages_that_consist_of_pictures_are_listed_at_the_end():
    picture = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q"
    other = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R >>"
    stream = f"<< /Length {len(picture)} >>\nstream\n{picture}\nendstream"
    made = build_pdf_page(draw_text(72, 700, "one"), "", other, stream)
    document = read_document(made.replace(b"/Kids [3 0 R] /Count 1", b"/Kids [3 0 R 5 0 R] /Count 2"))
    assert document.metadata["pictured"] == [2]
    assert "--- page 2 of 2 ---\n\n(this page is a picture without text)" in document.markdown
    assert "(No text was found on page 2, " in document.markdown
    assert "ocrmypdf" in document.markdown


def test_markers_painted_after_their_items_are_placed_before_them():
    items = (
        draw_text(90, 700, "one thing")
        + draw_text(90, 686, "another")
        + draw_text(110, 672, "deeper")
        + draw_text(72, 650, "After.")
    )
    marks = draw_text(76, 700, "1.") + draw_text(76, 686, "2.") + draw_text(96, 672, "-")
    assert (
        strip_page_line(read_document(build_pdf_page(items + marks)).markdown)
        == "1. one thing\n2. another\n    - deeper\n\nAfter."
    )


def test_text_painted_last_is_placed_where_it_is_seen():
    text = (
        draw_text(72, 700, f"First {LOREM}")
        + draw_text(72, 600, f"Third {LOREM}")
        + draw_text(72, 650, f"Second {LOREM}")
    )
    found = strip_page_line(read_document(build_pdf_page(text)).markdown).split("\n\n")
    assert [each.split()[0] for each in found] == ["First", "Second", "Third"]


def test_lettered_lines_under_a_numbered_item_are_nested_items():
    lines = [(72, 700, 11, "1. one"), (90, 686, 11, "a. ebb"), (90, 672, 11, "b. flood"), (72, 658, 11, "2. two")]
    assert (
        strip_page_line(read_document(build_positioned_pdf(lines)).markdown)
        == "1. one\n    - a. ebb\n    - b. flood\n2. two"
    )


def test_two_tables_with_a_gap_between_them_are_two():
    first, second = (("Light", "Height"), ("Wend", "41"), ("Tern", "12")), (("A", "B", "C"), ("1", "2", "3"))
    lines: list[tuple[int, int, int, str]] = []
    for top, rows in ((700, first), (600, second)):
        lines += [(72 + 120 * x, top - 14 * y, 11, cell) for y, row in enumerate(rows) for x, cell in enumerate(row)]
    document = read_document(build_positioned_pdf(lines))
    assert document.tables[-1] == [list(row) for row in second]
    assert "Tern" not in str(document.tables[-1])


def test_narrowly_spaced_cells_are_split_as_in_other_rows():
    rows = ("Light", "Height", "Built"), ("Cape Wend", "41", "1871"), ("Tern", "12", "1902"), ("Reed", "12345", "1911")
    places = 72, 222, 262
    lines = [(places[x], 700 - 14 * y, 11, cell) for y, row in enumerate(rows) for x, cell in enumerate(row)]
    assert read_document(build_positioned_pdf(lines)).tables == [[list(row) for row in rows]]


def test_links_with_commas_in_their_words_are_links():
    link = "<< /Type /Annot /Subtype /Link /Rect [72 697 121 712] /A << /S /URI /URI (https://a.example/x) >> >>"
    document = read_document(build_pdf_page(draw_text(72, 700, "ebb, flood, in short"), "/Annots [5 0 R]", link))
    assert strip_page_line(document.markdown) == "[ebb, flood](https://a.example/x), in short"


def test_mathematical_letters_and_characters_beyond_the_bmp_are_read():
    made = build_unicode_pdf([(72, 700, "ab")]).replace(b"<0061>", b"<d835dc38>").replace(b"<0062>", b"<d83ddea2>")
    assert "E🚢" in read_document(made).markdown


def test_headers_and_footers_of_a_single_page_are_recognised_by_content():
    text = [(72, 700 - 13 * at, 10, f"{at} {LOREM}") for at in range(9)]
    goes_on = [(72, 700 - 13 * at, 10, LOREM.lower()) for at in range(9)]
    cases = [  # the line at an edge, the text, and whether the line is removed
        ([(72, 770, 10, "Tides of the coast"), (500, 770, 10, "17")], text, True),
        ([(72, 30, 10, "Report to the council"), (500, 30, 10, "Page 3 of 12")], text, True),
        ([(290, 30, 10, "A-12")], text, True),
        ([(72, 770, 8, "Harbour Review, Vol. 12, No. 3")], text, True),
        ([(72, 770, 10, "The keeper of the tower")], goes_on, True),
        ([(72, 770, 8, "Annual record"), (290, 30, 10, "29")], text, True),
        ([(72, 770, 10, "The keeper of the tower")], text, False),
        ([(72, 770, 10, "Invoice no."), (500, 770, 10, "1178")], text, False),
        ([(72, 770, 14, "Tides of the coast"), (500, 770, 14, "2024")], text, False),
        ([(72, 30, 8, "Lamp & Sons, Quay 7, Wend")], text, False),
        ([(72, 30, 8, "Source: the night book."), (290, 770, 10, "29")], text, False),
        ([(72, 30, 8, "This content downloaded from 192.0.2.1 on Mon, 16 Jun 2014")], text, True),
        ([(72, 30, 8, "Download date: 28 Dec 2018")], text, True),
        ([(72, 20, 8, "Tides-2018.indd 71")], text, True),
        ([(72, 30, 10, "Harbour Office"), (72, 18, 10, "Form 12-B (Rev. 5-2010)")], text, True),
        ([(72, 78, 8, "Revision: 2.4"), (300, 78, 8, "P/N 119"), (490, 78, 8, "10 June 2019")], text, True),
        ([(72, 75, 10, "Harbour Office"), (300, 75, 10, "May 2019"), (490, 75, 10, "Page 17")], text, True),
        ([(72, 750, 10, "Tides of the coast"), (290, 30, 10, "29")], text, True),
        ([(72, 750, 10, "Tides of the coast"), (290, 30, 10, "1")], text, False),
        ([(72, 40, 10, "Tides 2018 | www.tides.example"), (290, 20, 10, "29")], text, True),
        ([(72, 724, 10, "RECEIPT"), (490, 724, 10, "219")], text, False),
        ([(212, 100, 10, "219")], text, True),
        ([(490, 100, 10, "219")], text, False),
        ([(72, 30, 8, "https://tides.example/ebb?page=2 27/06/2003 9:05")], text, True),
        ([(72, 770, 10, "In re: Harbour Lamps, LLC, et al.")], text, False),
        ([(72, 30, 10, "Due on receipt: 350.00"), (290, 770, 10, "29")], text, False),
        ([(72, 30, 10, "Call 555 0199 at night"), (290, 770, 10, "29")], text, False),
    ]
    for edge, lines, goes in cases:
        markdown = read_document(build_positioned_pdf([*edge, *lines])).markdown
        assert (edge[0][3] not in markdown) is goes, edge
        assert lines[0][3] in markdown


def test_a_number_that_only_a_footer_states_is_kept():
    text = [(72, 700 - 13 * at, 10, f"{at} {LOREM}") for at in range(9)]
    for said, is_kept in (("Thank you.", True), ("Please name invoice 2022089083.", False)):
        lines = [(72, 30, 8, "Invoice 2022089083 - Page 1/1"), (72, 500, 10, said), *text]
        assert ("Page 1/1" in read_document(build_positioned_pdf(lines)).markdown) is is_kept


def test_a_title_in_capitals_with_a_page_number_needs_no_gap():
    text = [(72, 752 - 13 * at, 10, f"{at} {LOREM}") for at in (1, 2, 3)]
    cases = [
        ((72, "TIDES OF THE COAST"), (490, "219"), True),
        ((490, "[Ch. XIX."), (72, "219"), True),
        ((72, "Tides of the coast"), (490, "219"), False),
        ((72, "RECEIPT"), (490, "219"), False),
    ]
    for (left, title), (right, number), is_header in cases:
        lines = [(left, 752, 10, title), (right, 752, 10, number), *text]
        assert (title not in read_document(build_positioned_pdf(lines)).markdown) is is_header


def test_widely_spaced_entries_with_page_numbers_are_not_footers():
    entries = [(72, 760 - 30 * at, 10, f"Tides {at}") for at in range(25)]
    numbers = [(490, 760 - 30 * at, 10, str(20 + at)) for at in range(25)]
    lines = [line for pair in zip(entries, numbers, strict=True) for line in pair]
    markdown = read_document(build_positioned_pdf(lines)).markdown
    assert "Tides 0" in markdown
    assert "Tides 24" in markdown


def test_a_number_beside_other_text_at_the_edge_is_not_a_page_number():
    text = [(95, 752 - 26 * at, 10, f"{at} {LOREM}") for at in (0, 1, 2)]
    lines = [text[0], (95, 739, 9, "Enter the height of the tide."), *text[1:], (72, 738, 10, "36")]
    assert "36" in read_document(build_positioned_pdf(lines)).markdown


def test_a_rotated_note_about_the_copy_is_left_out():
    text = "".join(draw_text(100, 700 - 13 * at, f"{at} {LOREM}") for at in range(9))
    stamp = "q 0 1 -1 0 40 300 cm " + draw_text(0, 0, "Downloaded from tides.example on 11 May 2019") + "Q"
    assert "tides.example" not in read_document(build_pdf_page(text + stamp)).markdown


def test_the_words_of_a_rotated_line_stay_in_one_paragraph():
    text = "".join(draw_text(100, 700 - 13 * at, f"{at} {LOREM}") for at in range(9))
    words = draw_text(0, 0, "The") + draw_text(23, 0, "keeper") + draw_text(62, 0, "sleeps")
    assert "The keeper sleeps" in read_document(build_pdf_page(f"{text} q 0 1 -1 0 40 300 cm {words} Q")).markdown
