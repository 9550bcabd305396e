"""PDF: graphics, rotation, hidden text, and other writing directions."""

import pytest

from outrider.core.errors import Unavailable
from outrider.pages.document import Document
from support.documents.office_files import read_document
from support.documents.pdf_files import (
    FONT_RESOURCES,
    build_pdf_page,
    build_pdf_without_fonts,
    build_unicode_pdf,
    build_vertical_pdf,
    draw_text,
)

LEVEL = "".join(f"60 {y} m 360 {y} l " for y in (700, 670, 630, 600))
GRID = f"{LEVEL} 60 600 m 60 700 l 160 630 m 160 700 l 260 600 m 260 700 l 360 600 m 360 700 l S\n"


def strip_page_line(document: Document) -> str:
    """The text without the line that says the page."""
    return document.markdown.partition("---\n\n")[2]


def test_rules_make_a_table_whose_cells_hold_several_lines_and_span_columns():
    places = {
        (70, 682): "Light", (170, 682): "Seen", (270, 682): "By", (70, 655): "Cape", (70, 642): "Wend",
        (170, 655): "at night,", (170, 642): "in fog", (270, 655): "boats", (70, 612): "All",
        (270, 612): "gulls",
    }  # fmt: skip
    cells = "".join(draw_text(x, y, text) for (x, y), text in places.items())
    document = read_document(
        build_pdf_page(draw_text(60, 720, "Before.") + GRID + cells + draw_text(60, 560, "After."))
    )
    assert document.tables == [
        [["Light", "Seen", "By"], ["Cape Wend", "at night, in fog", "boats"], ["All", "All", "gulls"]]
    ]
    assert strip_page_line(document).startswith("Before.\n\n| Light |")
    assert strip_page_line(document).endswith("| gulls |\n\nAfter.")


def test_vertical_rules_in_the_head_divide_the_rows_below_it():
    levels = "".join(f"60 {y} m 360 {y} l " for y in (700, 670, 640, 610))
    grid = f"{levels}60 610 m 60 700 l 360 610 m 360 700 l"
    head_only = " 160 670 m 160 700 l 260 670 m 260 700 l S\n"
    places = {
        (70, 682): "Light", (170, 682): "Height", (270, 682): "Built", (70, 652): "Wend", (170, 652): "41",
        (270, 652): "1871", (70, 622): "All the others of this coast together",
    }  # fmt: skip
    cells = "".join(draw_text(x, y, text) for (x, y), text in places.items())
    merged = ["All the others of this coast together"] * 3
    assert read_document(build_pdf_page(f"{grid}{head_only}{cells}")).tables == [
        [["Light", "Height", "Built"], ["Wend", "41", "1871"], merged]
    ]


def test_lines_of_numbers_in_one_ruled_row_become_rows():
    rules = "".join(f"60 {y} m 460 {y} l " for y in (700, 670, 600)) + "".join(
        f"{x} 600 m {x} 700 l " for x in (160, 260, 360)
    )
    rows = [("Light", "Height", "Ships", "Fog"), ("Wend", "41", "118", "12")]
    rows += [("Tern", "12", "64", "15"), ("Reed", "27", "310", "9")]
    cells = "".join(
        draw_text(70 + 100 * column, y, text)
        for y, row in zip((680, 655, 635, 615), rows, strict=True)
        for column, text in enumerate(row)
    )
    assert read_document(build_pdf_page(f"{rules}S\n{cells}")).tables == [[list(row) for row in rows]]


def test_a_header_spanning_columns_belongs_to_the_table_below():
    rows = [(("Ships a night", 275),), (("Light", 60), ("May", 220), ("June", 280), ("July", 340))]
    for name, *numbers in (("Wend", "118", "121", "97"), ("Tern", "64", "60", "71"), ("Reed", "310", "299", "305")):
        rows.append(((name, 60), *zip(numbers, (222, 282, 342), strict=True)))
    cells = "".join(draw_text(x, 700 - 16 * at, text) for at, row in enumerate(rows) for text, x in row)
    ships = ["Ships a night"] * 3
    assert read_document(build_pdf_page(cells)).tables == [
        [
            ["", *ships],
            ["Light", "May", "June", "July"],
            ["Wend", "118", "121", "97"],
            ["Tern", "64", "60", "71"],
            ["Reed", "310", "299", "305"],
        ]
    ]


def test_a_table_that_is_painted_column_by_column_has_its_rows():
    columns = ("Light", "Wend", "Tern", "Reed"), ("2023", "118", "64", "310"), ("2024", "121", "60", "299")
    cells = "".join(
        draw_text(60 + 150 * place, 700 - 20 * row, text)
        for place, column in enumerate(columns)
        for row, text in enumerate(column)
    )
    rows = [list(row) for row in zip(*columns, strict=True)]
    assert read_document(build_pdf_page(cells + draw_text(60, 560, "After."))).tables == [rows]


def test_words_centered_over_a_table_do_not_continue_its_head():
    rows = ("Light", "Kind", "Built", "Seen"), ("Wend", "Tower", "1871", "21 mi"), ("Tern", "Buoy", "1902", "12 mi")
    lefts, tops = (72, 150, 240, 304), (700, 676, 664)
    cells = [
        draw_text(left, top, cell, size=10)
        for top, row in zip(tops, rows, strict=True)
        for left, cell in zip(lefts, row, strict=True)
    ]
    section = draw_text(150, 688, "Northernmost lanterns", size=10)
    (table,) = read_document(build_pdf_page("".join([*cells[:4], section, *cells[4:]]))).tables
    assert table == [list(rows[0]), ["", "Northernmost lanterns", "", ""], *map(list, rows[1:])]


def test_a_chart_of_many_rules_and_few_words_is_not_a_table():
    rules = "".join(f"{x} 500 m {x} 700 l " for x in (60, 360)) + "".join(f"60 {y} m 360 {y} l " for y in (500, 700))
    ticks = "".join(f"{x} 500 m {x} 520 l " for x in range(70, 360, 10)) + "".join(
        f"60 {y} m 80 {y} l " for y in range(510, 700, 10)
    )
    document = read_document(build_pdf_page(f"{rules}{ticks}S\n" + draw_text(200, 600, "Boats a year")))
    assert (document.tables, strip_page_line(document)) == ([], "Boats a year")


def test_a_graph_whose_lines_run_through_its_words_is_not_a_table():
    lines = "".join(f"{x} 500 m {x} 700 l " for x in (60, 160, 260, 360)) + "60 500 m 360 500 l 60 700 m 360 700 l S\n"
    values = ((100, "Wend"), (150, "Tern"), (245, "Reed"), (300, "Marsh"))
    content = lines + "".join(draw_text(x, 680 - 40 * at, text) for at, (x, text) in enumerate(values))
    document = read_document(build_pdf_page(content))
    assert (document.tables, strip_page_line(document).split()) == ([], ["Wend", "Tern", "Reed", "Marsh"])


def test_words_covered_by_a_link_annotation_are_links():
    link = "<< /Type /Annot /Subtype /Link /Rect [94 697 140 712] /A << /S /URI /URI (https://a.example/x?y=1) >> >>"
    document = read_document(build_pdf_page(draw_text(72, 700, "See the lights here."), "/Annots [5 0 R]", link))
    assert "](https://a.example/x?y=1)" in document.markdown
    assert [each.url for each in document.links] == ["https://a.example/x?y=1"]


def test_a_form_value_is_placed_next_to_its_label():
    shown = draw_text(0, 4, "Ida Marsh")
    look = f"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] {FONT_RESOURCES} /Length {len(shown)} >>"
    field = "<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /Rect [150 696 350 716] /F 4 /AP << /N 6 0 R >> >>"
    drawn = f"{look}\nstream\n{shown}\nendstream"
    content = draw_text(72, 700, "Name:") + draw_text(72, 660, "Port:")
    form = "/AcroForm << /Fields [5 0 R] >>"
    document = read_document(build_pdf_page(content, "/Annots [5 0 R]", field, drawn, catalog=form))
    assert strip_page_line(document) == "Name: Ida Marsh\n\nPort:"


@pytest.mark.parametrize(
    ("value", "place", "expected"),
    [
        ("/V (c)", "/Rect [150 640 250 710]", "Size: Large\n\nPort:"),
        ("/V [(a) (c)] /I [0 2]", "/Rect [150 690 250 760]", "Size: Small, Large\n\nPort:"),
        ("/V (b)", "/Rect [72 665 172 698]", "Size:\n\nMiddle\n\nPort:"),
        ("/V (b)", "/Rect [150 640 250 710] /F 2", "Size:\n\nPort:"),
    ],
)
def test_a_list_box_says_what_is_chosen(value: str, place: str, expected: str):
    shown = "".join(draw_text(0, 56 - 14 * at, text) for at, text in enumerate(("Small", "Middle", "Large")))
    look = f"<< /Type /XObject /Subtype /Form /BBox [0 0 100 70] {FONT_RESOURCES} /Length {len(shown)} >>"
    options = "/Opt [[(a) (Small)] [(b) (Middle)] [(c) (Large)]] /Ff 2097152"
    field = f"<< /Type /Annot /Subtype /Widget /FT /Ch /T (size) {place} {value} {options} /AP << /N 6 0 R >> >>"
    content = draw_text(72, 700, "Size:") + draw_text(72, 620, "Port:")
    drawn = f"{look}\nstream\n{shown}\nendstream"
    form = "/AcroForm << /Fields [5 0 R] >>"
    document = read_document(build_pdf_page(content, "/Annots [5 0 R]", field, drawn, catalog=form))
    assert strip_page_line(document) == expected


def test_comments_of_readers_are_shown():
    note = "<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (Is that so?) /T (Tom) >>"
    assert (
        strip_page_line(read_document(build_pdf_page(draw_text(72, 700, "A claim."), "/Annots [5 0 R]", note)))
        == "A claim.\n\n> Comment by Tom: Is that so?"
    )


def test_a_rotated_page_is_read_as_a_person_sees_it():
    lines = "".join(
        draw_text(72, 500 - 14 * at, text) for at, text in enumerate(("The tide comes in", "and goes out."))
    )
    table = "".join(draw_text(72 + 120 * x, 400 - 14 * y, f"{x}{y}") for y in range(3) for x in range(3))
    content = f"q 0 1 -1 0 612 0 cm\n{draw_text(72, 540, 'Tides', size=20)}{lines}{table}Q"
    document = read_document(build_pdf_page(content, "/Rotate 90"))
    assert document.markdown.split("\n\n")[1] == "# Tides"
    assert document.tables == [[[f"{x}{y}" for x in range(3)] for y in range(3)]]


def test_a_stamp_at_the_margin_does_not_mix_with_the_text():
    lines = "".join(
        draw_text(100, 700 - 13 * at, f"Line {at} of what is told about the tides here") for at in range(12)
    )
    text = strip_page_line(
        read_document(build_pdf_page(lines + "q 0 1 -1 0 40 300 cm " + draw_text(0, 0, "arXiv:2401.00001v1") + "Q"))
    )
    assert text.endswith("\n\narXiv:2401.00001v1")
    assert "here Line 1" in text


def test_invisible_text_is_left_out_and_counted():
    content = (
        draw_text(72, 700, "Seen.")
        + "3 Tr "
        + draw_text(72, 650, "Not drawn.")
        + "0 Tr 1 1 1 rg "
        + draw_text(72, 600, "White.")
        + "0 0 0 rg " + draw_text(72, 550, "Tiny.", size=0.5) + draw_text(-400, 500, "Beside.")
    )  # fmt: skip
    document = read_document(build_pdf_page(content))
    assert strip_page_line(document) == "Seen."
    assert document.metadata["hidden"] == 4


def test_recognized_text_behind_a_scan_is_not_code_whatever_its_font():
    resources = "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >> >>"
    picture = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q "
    lines = draw_text(72, 700, "The tide comes in twice a day") + draw_text(72, 687, "and the boats rise with it.")
    markdown = read_document(build_pdf_page(f"{picture} 3 Tr {lines}", resources)).markdown
    assert "The tide comes in twice a day and the boats rise with it." in markdown
    assert "```" in read_document(build_pdf_page(lines, resources)).markdown


def test_white_letters_on_a_dark_ground_are_read():
    content = (
        "0 0 0.5 rg 60 690 300 30 re f 1 1 1 rg " + draw_text(72, 700, "Harbour") + "0 g " + draw_text(72, 600, "Dark.")
    )
    assert "Harbour" in read_document(build_pdf_page(content)).text


def test_a_heading_may_be_bold_only():
    prose = "".join(draw_text(72, 660 - 13 * at, "The keeper writes down every boat that comes in") for at in range(3))
    text = strip_page_line(read_document(build_pdf_page(draw_text(72, 700, "Results", font="F2") + prose)))
    assert text.startswith("# Results\n\nThe keeper")


def test_an_entry_of_the_contents_is_not_a_heading():
    contents = draw_text(72, 700, "Tides 2")
    outline = "/Outlines 5 0 R"
    entries = "<< /First 6 0 R /Last 6 0 R /Count 1 >>", "<< /Title (Tides) /Parent 5 0 R /Dest [7 0 R /Fit] >>"
    other = "<< /Type /Page /Parent 2 0 R >>"
    assert strip_page_line(read_document(build_pdf_page(contents, "", *entries, other, catalog=outline))) == "# Tides 2"
    second = build_pdf_page(contents, "", *entries, other, catalog=outline).replace(
        b"/Kids [3 0 R] /Count 1", b"/Kids [3 0 R 7 0 R] /Count 2"
    )
    assert strip_page_line(read_document(second)).startswith("Tides 2")


def test_exponents_and_indices_are_kept():
    content = (
        draw_text(72, 700, "About 10") + draw_text(116.5, 704, "6", size=6) + draw_text(125, 700, "boats of CO")
        + draw_text(184, 697, "2", size=6) + draw_text(72, 650, "A line")
    )  # fmt: skip
    assert "10⁶" in read_document(build_pdf_page(content)).text
    assert "CO₂" in read_document(build_pdf_page(content)).text


def test_placeholder_titles_and_authors_are_ignored():
    body = build_pdf_page(
        draw_text(72, 700, "Tides", size=24) + draw_text(72, 660, "Twice a day."), "", "<< /Title (untitled) >>"
    )
    document = read_document(body.replace(b"/Root 1 0 R", b"/Root 1 0 R /Info 5 0 R"))
    assert (document.title, document.author) == ("Tides", "")


@pytest.mark.nightly
def test_a_scanned_document_names_the_remedy():
    assert "ocrmypdf" in read_document(build_pdf_page("0 0 1 rg 0 0 9 9 re f")).markdown


def test_embedded_files_are_listed():
    names = "/Names << /EmbeddedFiles << /Names [(tide.csv) 5 0 R] >> >>"
    spec = "<< /Type /Filespec /F (tide.csv) /UF (tide.csv) /EF << /F 6 0 R >> >>"
    document = read_document(
        build_pdf_page(
            draw_text(72, 700, "See the table."), "", spec, "<< /Length 1 >>\nstream\nx\nendstream", catalog=names
        )
    )
    assert strip_page_line(document).endswith("Attachments:\n\n- tide.csv")
    assert document.metadata["attachments"] == ["tide.csv"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (build_pdf_page("")[:-40], "its end is missing"),
        (build_pdf_page("").replace(b"/Kids [3 0 R] /Count 1", b"/Kids [] /Count 0"), "no pages"),
        (b"", "empty"),
    ],
)
def test_a_broken_document_is_reported_with_the_reason(data: bytes, why: str):
    with pytest.raises(Unavailable, match=why) as caught:
        read_document(data, "x.pdf")
    assert caught.value.code == "broken_file"


def test_cells_that_are_broken_over_lines_are_whole_without_rules():
    rows = (
        ("Light", "Seen by those who", "By"),
        ("Cape Wend", "come in from the/north at night", "boats"),
        ("Tern", "know", "gulls"),
        ("The old reed of/the southern bay", "are late and have/lost their way", "cargo"),
    )
    content, y = "", 700
    for row in rows:
        for x, cell in enumerate(row):
            lines = cell.split("/")
            content += "".join(draw_text(72 + 110 * x, y - 13 * at, line) for at, line in enumerate(lines))
        y -= 13 * max(cell.count("/") + 1 for cell in row)
    content += draw_text(72, y - 40, "After it the text goes on over the whole width of the page.")
    assert read_document(build_pdf_page(content)).tables == [[[cell.replace("/", " ") for cell in row] for row in rows]]


def test_two_columns_under_a_head_with_a_rule_are_a_table():
    rows = (("Code", "Meaning"), ("broken_file", "it is cut, or/damaged"), ("too_large", "it is so"))
    content, y = "72 696 m 260 696 l S\n", 700
    for first, second in rows:
        lines = second.split("/")
        content += draw_text(72, y, first) + "".join(draw_text(180, y - 13 * at, line) for at, line in enumerate(lines))
        y -= 13 * len(lines)
    assert read_document(build_pdf_page(content)).tables == [[[cell.replace("/", " ") for cell in row] for row in rows]]


def test_text_columns_under_short_headings_are_not_a_table():
    left = ["The tide comes in twice a day and the boats", "rise with it until the bell rings at the pier"] * 8
    content = draw_text(72, 700, "Ebb", font="F2") + draw_text(320, 700, "Flood", font="F2")
    for x, word in ((72, "left"), (320, "right")):
        content += "".join(draw_text(x, 680 - 13 * at, f"{line} {word}", size=9) for at, line in enumerate(left))
    document = read_document(build_pdf_page(content))
    assert document.tables == []
    assert document.text.rindex("pier left") < document.text.index("boats right")


def test_invoice_items_are_rows_despite_right_aligned_numbers():
    rows = (
        ("Item", "Qty", "Unit price", "Amount"),
        ("Rope of the best kind for/all of the harbour", "18", "38.08", "685.44"),
        ("Lamp", "6", "91.63", "549.78"),
        ("Total", "", "", "1,235.22"),
    )
    ends, content, y = (0, 330, 430, 530), "", 700
    for row in rows:
        for column, cell in enumerate(row):
            for at, line in enumerate(cell.split("/")):
                width = sum(2.8 if letter in ".,ijlt " else 6.1 for letter in line)
                content += draw_text(72 if not column else ends[column] - width, y - 13 * at, line) if line else ""
        y -= 13 * (row[0].count("/") + 1)
    assert read_document(build_pdf_page(content)).tables == [[[cell.replace("/", " ") for cell in row] for row in rows]]


def test_vertical_text_is_read_from_right_to_left():
    lines = "吾輩は猫である", "名前はまだ無い", "どこで生れたか"
    pdf = build_vertical_pdf([(500 - 24 * number, 700, line) for number, line in enumerate(lines)])
    assert strip_page_line(read_document(pdf)) == "".join(lines)


def test_vertical_text_in_a_missing_font_names_the_font():
    cases = {
        "UniJIS-UTF16-V": ("Japan1", "HeiseiMin-W3", "吾輩は猫である"),
        "UniGB-UTF16-V": ("GB1", "STSong-Light", "我是一只猫呢"),
        "UniKS-UTF16-V": ("Korea1", "HYSMyeongJo-Medium", "나는고양이다"),
    }
    for cmap, (collection, font, text) in cases.items():
        columns = [(500.0, 700.0, text), (476.0, 700.0, text)]
        for page_number in ("", draw_text(300, 30, "17")):
            document = read_document(build_pdf_without_fonts(columns, cmap, collection, font, page_number))
            assert not document.metadata["scanned"], font
            if text not in document.markdown:  # this machine has no font for the script
                assert document.metadata["missing_fonts"] == [font]
                assert f"does not contain its font {font}" in document.markdown
                assert "fonts-noto-cjk" in document.markdown


def test_horizontal_text_in_a_missing_font_is_read():
    columns = [(72.0, 700.0, "吾輩は猫である"), (72.0, 676.0, "名前はまだ無い")]
    document = read_document(build_pdf_without_fonts(columns, "UniJIS-UTF16-H", "Japan1", "HeiseiMin-W3"))
    assert "吾輩は猫である" in document.markdown
    assert "missing_fonts" not in document.metadata


def test_tables_and_brackets_in_right_to_left_scripts_are_read_from_the_right():
    words = [(400, 700, "cba"), (200, 700, "fed"), (400, 680, "2020"), (200, 680, "12"), (400, 660, "2021"),
             (200, 660, "13"), (300, 600, "fed \\(ihg\\) cba")]  # fmt: skip
    content = "".join(f"BT /F9 12 Tf {x} {y} Td ({text}) Tj ET\n" for x, y, text in words)
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /H def /CMapType 2 def "
        "1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfrange <61> <7a> <05d0> <20> <40> <0020> endbfrange "
        "endcmap end end"
    )
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    stream = f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream"
    document = read_document(build_pdf_page(content, "/Resources << /Font << /F9 5 0 R >> >>", font, stream))
    assert document.tables == [[["אבג", "דהו"], ["2020", "12"], ["2021", "13"]]]
    assert strip_page_line(document).endswith("אבג (זחט) דהו")


def test_a_stacked_exponent_and_index_stay_in_their_line():
    content = (
        draw_text(60, 700, "The space S") + draw_text(119, 704.5, "new", size=8) + draw_text(118.5, 697, "k", size=8)
        + draw_text(134.2, 700, "(x) of forms, of which") + draw_text(60, 686, "all are old.")
    )  # fmt: skip
    assert (
        strip_page_line(read_document(build_pdf_page(content))) == "The space Snew_k(x) of forms, of which all are old."
    )


def test_a_small_label_next_to_a_line_is_not_an_exponent():
    content = (
        draw_text(60, 700, "The old light") + draw_text(300, 703, "Fig. 2", size=7) + draw_text(60, 640, "burns on.")
    )
    assert "^" not in strip_page_line(read_document(build_pdf_page(content)))


def test_smaller_type_within_a_line_does_not_end_the_paragraph():
    first = draw_text(72, 700, "To mark what is to be moved in the chart of the harbour one uses") + draw_text(
        72, 686, "large "
    )
    middle = draw_text(102, 686, "mark command of the middle", size=9.7, font="F2")
    assert (
        strip_page_line(
            read_document(build_pdf_page(first + middle + draw_text(250, 686, "and goes on with it.")))
        ).count("\n")
        == 0
    )


def test_an_indented_continuation_belongs_to_its_lettered_item():
    content = (
        draw_text(72, 700, "c. Convey single copies of the chart with a copy of the written offer to")
        + draw_text(88, 686, "provide the source of it.") + draw_text(72, 670, "d. Convey it from a place.")
    )  # fmt: skip
    assert strip_page_line(read_document(build_pdf_page(content))) == (
        "c. Convey single copies of the chart with a copy of the written offer to provide the source of it.\n\n"
        "d. Convey it from a place."
    )


def test_columns_whose_lines_are_painted_alternately_are_read_one_after_the_other():
    words = ["the", "boats", "come", "home", "with", "the", "tide", "tonight"]
    for count, leadings in ((2, (12, 12)), (2, (12, 12.7)), (3, (12, 12, 12))):
        width = 520 // count
        placed: list[tuple[float, float, float, str]] = []
        for column, leading in enumerate(leadings):
            for at in range(14):
                turned = [*words[at % 8 :], *words[: at % 8]]
                text = f"{'abc'[column]}{at} {' '.join(turned)}"[: 60 // count + 12]
                placed.append((50 + width * column, 700 - leading * at, 8, text))
        placed.sort(key=lambda piece: -piece[1])
        pieces = [(50, 740, 16, "Boats, tides and all the lights of the coast"), *placed]
        content = "".join(draw_text(x, y, text, size=size) for x, y, size, text in pieces)
        markdown = read_document(build_pdf_page(content)).markdown
        starts = [f"{name}{at} " for name in "abc"[:count] for at in range(14)]
        places = [markdown.find(start) for start in starts]
        assert -1 not in places
        assert places == sorted(places)
        assert "|" not in markdown


def test_accents_that_are_drawn_as_characters_are_composed_with_their_letters():
    word = [(72, 700, "J"), (77, 700, "´"), (77, 700, "an"), (92, 700, "rı"), (97, 701, "´"), (102, 700, "c")]
    end = [(112, 700, "sleeps"), (102, 700, "ˇ"), (72, 680, "a ´ b")]
    markdown = read_document(build_unicode_pdf([*word, *end])).markdown
    assert "Ján ríč sleeps" in markdown
    assert "a ´ b" in markdown


def test_two_single_quotation_marks_are_a_double_one():
    assert "“ebb”" in read_document(build_unicode_pdf([(72, 700, "‘‘ebb’’")])).markdown
