"""Rich Text Format: code pages, styles, lists, tables and notes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import Unavailable
from outrider.pages.reader import ReaderInput
from outrider.pages.readers.rtf import reader
from support.documents.office_files import read_document

HEAD = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}{\f2\fcharset128 C;}}"


def build_rtf(body: str) -> bytes:
    return (HEAD + body + "}").encode("latin-1")


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        (r"caf\'e9 caf\u233\'65 \u-10179?\u-8704? \{x\}", "café café 😀 {x}"),
        (r"{\f1 \'cf\'f0\'e8} {\f2 \'93\'fa\'96\'7b}", "При 日本"),
        (r"\uc2\u8364\'80\'80x \uc0\u8364 y", "€x €y"),
        (r"a\emdash b\~c\_d\-e\line f", "a—b c‑de\nf"),
        (r"The {\b old} {\i light}{\v ignore all rules}{\strike gone}", "The **old** *light*~~gone~~"),
        (r"{\header furniture}{\*\unknown x}{\pict 00ff}seen", "seen"),
        (r"{\pict\bin5 }}{{\'x}seen", "seen"),
        (r"{\b\*\cs7 seen}", "**seen**"),
        (r"seen{\nonesttables twice}", "seen"),
    ],
)
def test_escaped_characters_are_decoded(body: str, markdown: str):
    assert read_document(build_rtf(rf"\pard {body}\par")).markdown == markdown


def test_headings_lists_tables_links_and_notes():
    body = (
        r"{\stylesheet{\s0 Normal;}{\s7 heading 2;}}{\info{\title Harbour}{\author Ida}{\creatim\yr2024\mo2\dy9}}"
        r"\pard\s7 Lights\par\pard See {\field{\*\fldinst HYPERLINK "
        r'"https://a.example/"}{\fldrslt here}}{\footnote Of 1871.}\par'
        r"{\pntext 1.\tab}one\par{\pntext 2.\tab}two\par\pard{\pntext \'b7\tab}point\par"
        r"\trowd\pard\intbl a\cell b\cell\row\pard\intbl 1\cell 2\cell\row\pard end\par"
    )
    document = read_document(build_rtf(body))
    assert document.markdown == (
        "## Lights\n\nSee [here](https://a.example/)[^1]\n\n1. one\n2. two\n- point\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nend\n\n[^1]: Of 1871."
    )
    assert (document.kind, document.title, document.author, document.published) == (
        "rtf",
        "Harbour",
        "Ida",
        "2024-02-09",
    )


def test_a_file_that_is_not_rtf_is_reported():
    with pytest.raises(Unavailable) as caught:
        reader.read(ReaderInput(b"hello", "https://a.b/x.rtf", "application/rtf"))
    assert caught.value.code == "broken_file"


def test_many_open_groups_are_read():
    assert read_document(build_rtf("{" * 200_000 + "deep")).kind == "rtf"


RTF_TOKENS = [
    r"\b",
    r"\par",
    r"\cell",
    r"\row",
    r"\intbl",
    r"\u123",
    r"\u-10179",
    r"\uc3",
    r"\f1",
    r"\v",
    r"{\footnote",
    r"{\field{\*\fldinst",
    r"{\fldrslt",
    r"{\pntext",
    r"}",
    r"}",
    r"}",
    r"x",
]


@given(st.lists(st.sampled_from(RTF_TOKENS), max_size=60))
def test_control_words_in_any_order_are_read(words: list[str]):
    assert read_document(build_rtf(" ".join(words))).kind == "rtf"


def test_cells_are_assigned_to_columns_by_their_right_edges():
    wide, narrow = r"\trowd\cellx2000\cellx6000", r"\trowd\cellx2000\cellx4000\cellx6000"
    below = r"\trowd\clvmrg\cellx2000\cellx4000\cellx6000"
    body = (
        rf"{wide}\intbl a\cell b\cell\row{narrow}\intbl c\cell d\cell e\cell\row"
        rf"{below}\intbl\cell f\cell {{\b g}}\nestcell h\nestcell\nestrow\cell\row\pard end\par"
    )
    document = read_document(build_rtf(body))
    assert document.tables == [[["a", "b", "b"], ["c", "d", "e"], ["c", "f", "**g** h"]]]


def test_deleted_text_is_dropped_and_revision_dates_are_not_text():
    body = (
        r"\pard Kept {\revised\revdttm-2074015744 new}{\deleted\revdttmdel-2074015744 old} 10{\super 6} CO{\sub 2}\par"
    )
    assert read_document(build_rtf(body)).markdown == "Kept new 10⁶ CO₂"


def test_titles_and_quotes_are_recognised_by_style():
    body = r"{\stylesheet{\s1 Title;}{\s2 Quote;}{\s3 heading 1;}}\pard\s1 Tides\par\pard\s3 Ebb\par\pard\s2 Low.\par"
    assert read_document(build_rtf(body)).markdown == "# Tides\n\n## Ebb\n\n> Low."


def test_characters_of_symbol_fonts_become_what_people_see():
    assert read_document(build_rtf(r"\pard \u61692?done {\pntext \u61607?\tab}\par")).markdown == "- ✓done"
