"""PDF: headings, paragraphs, lists and tables by their position on the page."""

from typing import Any

import pytest

from outrider.core.errors import InvalidInput, Refused, Unavailable
from support.documents.office_files import read_document
from support.documents.pdf_files import build_pdf_page, draw_text
from support.fakes.website import build_pdf, build_positioned_pdf

SIDES = ((72, "left"), (320, "right"))
LOREM = "The tide comes in twice a day and the boats rise with it until the"


def test_larger_type_is_a_heading_and_lines_are_joined_to_paragraphs():
    lines = [
        (72, 720, 24, "Tides"),
        (72, 690, 16, "At noon"),
        (72, 660, 11, LOREM),
        (72, 647, 11, "bell rings."),
        (72, 610, 11, "Then it is night."),
    ]
    document = read_document(build_positioned_pdf(lines))
    assert document.markdown == (
        f"--- page 1 of 1 ---\n\n# Tides\n\n## At noon\n\n{LOREM} bell rings.\n\nThen it is night."
    )
    assert document.title == "Tides"


def test_gaps_that_align_are_a_table():
    rows = ("Light", "Height", "Built"), ("Cape Wend", "41", "1871"), ("Tern", "12", "1902")
    lines = [(72 + 150 * x, 700 - 14 * y, 11, cell) for y, row in enumerate(rows) for x, cell in enumerate(row)]
    assert read_document(build_positioned_pdf(lines)).tables == [[list(row) for row in rows]]


def draw_figures(y: int, *given: str, size: int = 10) -> list[tuple[int, int, int, str]]:
    """Place figures that end at 400, 470 and 540 points; digits are .556 em wide, commas and brackets about half."""
    wide = [sum(0.556 if sign.isdigit() else 0.3 for sign in text) * size for text in given]
    return [
        (round(400 + 70 * at - width), y, size, text) for at, (text, width) in enumerate(zip(given, wide, strict=True))
    ]


def test_financial_tables_keep_years_sections_and_multi_line_labels():
    lines = [
        (440, 700, 10, "December 31,"),
        *draw_figures(687, "2023", "2022", "2021"),
        (72, 674, 10, "Current assets:"),
        *[(82, 661, 10, "Cash"), *draw_figures(661, "29,965", "23,646", "20,535")],
        (82, 648, 10, "Securities, which are held until the tide turns and"),
        *[(92, 635, 10, "the boats are home again"), *draw_figures(635, "31,590", "24,658", "27,699")],
        (72, 622, 10, "Other assets:"),
        *[(82, 609, 10, "Lamps"), *draw_figures(609, "(1,210)", "33", "7")],
    ]
    document = read_document(build_positioned_pdf(lines))
    assert document.tables == [
        [
            ["", "December 31, 2023", "December 31, 2022", "December 31, 2021"],
            ["Current assets:", "", "", ""],
            ["Cash", "29,965", "23,646", "20,535"],
            [
                "Securities, which are held until the tide turns and the boats are home again",
                "31,590",
                "24,658",
                "27,699",
            ],
            ["Other assets:", "", "", ""],
            ["Lamps", "(1,210)", "33", "7"],
        ]
    ]


def test_a_short_label_without_numbers_starts_a_section_of_the_table():
    rows = ("Inland district",), ("Lantern", "94", "61"), ("Vessel", "27", "11"), ("Railways and", "69", "73")
    numbered = [(700 - 13 * at, label, numbers) for at, (label, *numbers) in enumerate(rows)]
    lines = [line for y, label, numbers in numbered for line in ((72, y, 10, label), *draw_figures(y, *numbers))]
    document = read_document(build_positioned_pdf([*draw_figures(713, "2023", "2024"), *lines]))
    assert document.tables[0][1:3] == [["Inland district", "", ""], ["Lantern", "94", "61"]]


def test_hyphenated_words_are_joined_and_keep_their_own_hyphens():
    lines = [(72, 700, 11, "The won-"), (72, 687, 11, "derful light of the self-"), (72, 674, 11, "made pier"),
             (72, 661, 11, "and its state-of-the-"), (72, 648, 11, "art x-"), (72, 635, 11, "rays.")]  # fmt: skip
    text = " ".join(read_document(build_positioned_pdf(lines)).text.split())
    assert text.endswith("The wonderful light of the self-made pier and its state-of-the-art x-rays.")


def test_columns_of_text_are_read_one_after_the_other():
    lines = []
    for at in range(8):
        lines += [(x, 700 - 13 * at, 10, f"{side} part number {at} goes on and on") for x, side in SIDES]
    text = read_document(build_positioned_pdf(lines)).markdown
    assert text.index("left part number 7") < text.index("right part number 0")


def test_columns_of_different_leading_below_a_summary_are_not_interleaved():
    summary = [
        (72, 740 - 10 * at, 8, f"Summary line {at} is as wide as the page is, as summaries are.") for at in range(45)
    ]
    left = [(72, 280 - 10 * at, 8, f"left part number {at} goes on and on") for at in range(8)]
    right = [(320, 280 - 12 * at, 8, f"right part number {at} goes on and on") for at in range(7)]
    painted_late = (72, 760, 8, "The head of the page reaches over both of its columns, to the end of the second.")
    text = read_document(build_positioned_pdf([*summary, *left, *right, painted_late])).markdown
    places = [text.index(line) for *_, line in (*left, *right)]
    assert places == sorted(places)


def test_lines_painted_in_any_order_are_sorted():
    lines = [(72, 400 + 25 * (at * 7 % 12), 11, f"Line {at * 7 % 12} of it.") for at in range(12)]
    found = [
        line for line in read_document(build_positioned_pdf(lines)).markdown.split("\n") if line.startswith("Line")
    ]
    assert found == [f"Line {at} of it." for at in reversed(range(12))]


def test_bullets_and_numbers_become_list_items():
    lines = [
        (72, 700, 11, "- one thing that"),
        (80, 687, 11, "goes on"),
        (72, 674, 11, "- two"),
        (72, 650, 11, "1. first"),
    ]
    assert (
        read_document(build_positioned_pdf(lines)).markdown.split("\n\n", 1)[1]
        == "- one thing that goes on\n- two\n1. first"
    )


def test_running_headers_and_page_numbers_are_left_out():
    pages = [
        [(72, 770, 9, "The Harbour Times"), (72, 600, 11, f"Story {at} of the day."), (300, 30, 9, str(at))]
        for at in range(1, 6)
    ]
    text = read_document(build_positioned_pdf(*pages)).markdown
    assert "Harbour Times" not in text
    assert text.startswith("--- page 1 of 5 ---\n\nStory 1 of the day.\n\n--- page 2 of 5 ---")
    assert text.endswith("Story 5 of the day.")


@pytest.mark.parametrize("bound", [{"max_pages": 1}, {"time_limit_s": 0}])
def test_unread_pages_are_reported_with_how_to_read_them(bound: dict[str, Any]):
    notice = "pages 2 to 3 were not read: to read them, append #page=2 to the URL"
    assert read_document(build_pdf("one", "two", "three"), **bound).markdown.endswith(f"one\n\n--- {notice} ---")


def test_reading_starts_at_the_requested_page() -> None:
    document = read_document(build_pdf("one", "two", "three"), first_page=2)
    assert document.markdown == "--- page 2 of 3 ---\n\ntwo\n\n--- page 3 of 3 ---\n\nthree"
    with pytest.raises(InvalidInput, match="page 4 is past the end"):
        read_document(build_pdf("one", "two", "three"), first_page=4)


def test_a_page_without_text_is_reported_as_scanned():
    assert read_document(build_positioned_pdf([])).metadata == {"pages": 1, "scanned": True}


def test_a_password_protected_pdf_is_reported():
    locked = b"<< /Filter /Standard /V 1 /R 2 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> /P -4 >>"
    body = build_pdf("secret").replace(b"/Root 1 0 R", b"/Root 1 0 R /ID [<00> <00>] /Encrypt " + locked)
    with pytest.raises(Refused) as caught:
        read_document(body)
    assert caught.value.code == "encrypted"


def test_a_truncated_pdf_is_reported():
    with pytest.raises(Unavailable) as caught:
        read_document(b"%PDF-1.7\n" + bytes(100))
    assert caught.value.code == "broken_file"


def test_a_page_number_far_from_the_edge_is_left_out():
    pages = [[(72, 700, 11, f"The light of night {at} burns."), (300, 200, 11, str(at + 6))] for at in range(3)]
    text = read_document(build_positioned_pdf(*pages)).text
    assert "burns." in text
    assert not any(str(at + 6) in text.split() for at in range(3))


def test_numbers_below_the_text_that_do_not_count_pages_are_kept():
    pages = [[(72, 700, 11, "In all:"), (300, 200, 11, total)] for total in ("410", "12", "77")]
    text = read_document(build_positioned_pdf(*pages)).text
    assert all(total in text.split() for total in ("410", "12", "77"))


def test_lines_of_a_centered_or_continued_title_are_one_heading():
    text = [
        (72, 600 - 13 * at, 11, f"{at} The tide comes in twice a day and the boats rise with it") for at in range(6)
    ]
    title = [(72, 700, 18, "The keeper of the light on the northern coast"), (180, 680, 18, "Tides and Winds")]
    head = [(72, 650, 14, "Lamps that are seen"), (72, 635, 14, "from the sea")]
    apart = [(150, 740, 18, "Annex"), (100, 722, 18, "What is kept there")]
    lines = read_document(build_positioned_pdf([*apart, *title, *head, *text])).markdown.splitlines()
    assert "# The keeper of the light on the northern coast Tides and Winds" in lines
    assert "## Lamps that are seen from the sea" in lines
    assert "# Annex" in lines


def test_authors_and_their_addresses_in_large_type_are_not_headings():
    text = [(72, 500 - 13 * at, 9, f"{at} The boats rise with it until the bell rings at noon") for at in range(6)]
    authors = [(72, 660, 12, "A. Wend, B. Tern, C. Reed, D. Ebb, E. Flood"), (72, 630, 12, "wend@harbour.example")]
    markdown = read_document(build_positioned_pdf([(72, 700, 18, "Tides"), *authors, *text])).markdown
    assert markdown.count("# ") == markdown.count("# Tides") == 1


def test_a_note_in_the_margin_is_not_a_heading():
    text = "".join(draw_text(100, 700 - 13 * at, f"{at} The boats rise with it until the bell") for at in range(9))
    stamp = "q 0 1 -1 0 40 300 cm " + draw_text(0, 0, "arXiv:2401.00001v1", size=20) + "Q"
    title = draw_text(100, 730, "Tides", size=16)
    markdown = read_document(build_pdf_page(title + text + stamp)).markdown
    assert "\n# Tides" in markdown
    assert "# arXiv" not in markdown


def test_a_sentence_in_large_type_is_not_a_heading():
    lead = "The keeper of the light counts each boat that passes it at night."
    lines = [(72, 740, 24, "Boats of the coast"), (72, 700, 15, lead), (72, 660, 15, "Who counts them?")]
    text = [
        (72, 620 - 13 * at, 10, f"{at} The tide comes in twice a day and the boats rise with it.") for at in range(9)
    ]
    markdown = read_document(build_positioned_pdf([*lines, *text])).markdown
    assert f"\n\n{lead}\n\n## Who counts them?" in markdown
