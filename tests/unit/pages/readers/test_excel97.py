"""Excel workbooks from before 2007, including damaged, old and unusual ones.

`make.py` next to it makes `book.xls.xz` with openpyxl, and LibreOffice saves it; xlwt writes `lights.xls`.
"""

import lzma
import random
import struct
from pathlib import Path

import pytest

from outrider.core.errors import OutriderError, Refused
from support.documents.office_files import read_document

DATA = Path(__file__).parents[3] / "data" / "documents"
XLS = lzma.decompress((DATA / "book.xls.xz").read_bytes())
LIGHTS = (DATA / "lights.xls").read_bytes()


GLOBALS, SHEET, EXCEL_5, EXCEL_97 = 5, 16, 0x500, 0x600
LINK = bytes.fromhex("D0C9EA79F9BACE118C8200AA004BA90B 02000000 03000000 E0C9EA79F9BACE118C8200AA004BA90B 12000000")
LINK += "http://a\0".encode("utf-16-le")


def build_record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def build_beginning(kind: int, version: int) -> bytes:
    return build_record(
        0x809, struct.pack("<HHHHLL", version, kind, 4_000, 1997, 0, 0)[: 16 if version == EXCEL_97 else 8]
    )


def build_number(row: int, value: float, look: int = 0) -> bytes:
    return build_record(0x203, struct.pack("<HHHd", row, 0, look, value))


def build_link(bottom: int, right: int, target: bytes = LINK) -> bytes:
    return build_record(0x1B8, struct.pack("<HHHH", 0, bottom, 0, right) + target)


def build_records(*sheets: bytes, version: int = EXCEL_97, more: bytes = b"") -> bytes:
    """Build a workbook of sheets called A, B and so on, without a compound file around it."""

    def head(places: list[int]) -> bytes:
        mark = b"\0" if version == EXCEL_97 else b""
        listed = [
            build_record(0x85, struct.pack("<LBBB", place, 0, 0, 1) + mark + bytes([65 + at]))
            for at, place in enumerate(places)
        ]
        page = build_record(0x42, struct.pack("<H", 1250))
        return (
            build_beginning(GLOBALS, version)
            + page
            + more
            + build_record(0xE0, bytes(20))
            + b"".join(listed)
            + build_record(0x0A)
        )

    bodies = [build_beginning(SHEET, version) + each + build_record(0x0A) for each in sheets]
    first = len(head([0] * len(bodies)))
    return head([first + sum(map(len, bodies[:at])) for at in range(len(bodies))]) + b"".join(bodies)


def build_compound_file(stream: bytes) -> bytes:
    """Put the records into another workbook's compound file, under the name of Excel 5 and 95."""
    size = LIGHTS.find(b"\xfd\xff\xff\xff", 512) // 512 * 512 - 512
    old, new = ("\0".join(name) + "\0" for name in ("Workbook", "Book"))
    entry = LIGHTS.find(old.encode())
    head = bytearray(LIGHTS[:512] + stream.ljust(size, b"\0") + LIGHTS[512 + size :])
    head[entry : entry + 66] = new.encode().ljust(64, b"\0") + struct.pack("<H", 10)
    return bytes(head)


def read_outcome(body: bytes) -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read_document(body, "x.xls").kind
    except OutriderError as error:
        return error.code if error.hint else "an error that says nothing"


def test_cells_are_shown_in_their_formats_and_hidden_ones_left_out():
    document = read_document(XLS)
    assert document.markdown.split("\n\n## Texts")[0] == (
        "## Lights\n\n"
        "| Name | Built | Share | Price | Sum | Lit | Code | Wrong |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| [Cape Wend](https://harbour.example/wend) | 1971-02-28 | 12.5% | 1234.5 € | 2469 | TRUE | 00007 "
        "| #DIV/0! |\n"
        "| Türn 日本 | 1902-03-01 12:30:00 | -50% | -7 € | ab | FALSE | 12345 | 1e-09 |\n\n"
        "| see above | see above | see above |\n| --- | --- | --- |\n\n"
        "(1 hidden row and 1 hidden column left out)"
    )
    assert document.markdown.endswith("(1 hidden sheet left out)")
    assert document.metadata == {"sheets": ["Lights", "Texts"], "hidden": 3}
    assert document.kind == "excel"


def test_texts_split_across_records_are_joined():
    rows = read_document(XLS).tables[-1]
    wanted = [f"n{row} " + ("äöü" if row % 3 else "日本 ") * (row % 40) for row in range(300)]
    assert [row[0] for row in rows] == [" ".join(text.split()) for text in wanted]


def test_numbers_of_every_length_are_read():
    assert read_document(LIGHTS).tables == [[["Name", "Height"], ["Cape Wend", "41"], ["Tern", "12.5"]]]


def test_an_encrypted_workbook_is_reported():
    protected = struct.pack("<HH", 0x2F, 2)  # where there is usually a harmless record of the same length
    harmless = struct.pack("<HH", 0x42, 2)
    assert harmless in LIGHTS
    with pytest.raises(Refused) as caught:
        read_document(LIGHTS.replace(harmless, protected, 1))
    assert caught.value.code == "encrypted"


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.99])
def test_a_truncated_workbook_is_read_or_reported_as_broken(share: float):
    assert read_outcome(XLS[: int(len(XLS) * share)]) in ("excel", "broken_file")


def test_a_workbook_with_a_missing_end_says_so():
    place = LIGHTS.find("Workbook".encode("utf-16-le")) + 120  # where the directory has the length of the stream
    longer = struct.pack("<L", struct.unpack_from("<L", LIGHTS, place)[0] + 5_000)
    cut = read_document(LIGHTS[:place] + longer + LIGHTS[place + 4 :])
    assert cut.markdown.endswith("| Tern | 12.5 |\n\n(the end of this file is missing)")
    assert cut.metadata["cut"]


def test_a_workbook_damaged_anywhere_is_read_or_reported():
    rng = random.Random(7)
    for _ in range(100):
        body = bytearray(LIGHTS)
        for _ in range(rng.choice((1, 10, 100))):
            body[rng.randrange(len(body))] = rng.randrange(256)
        assert read_outcome(bytes(body)) in ("excel", "broken_file", "encrypted", "unreadable_type", "text")


def test_workbooks_of_excel_95_are_read_in_their_own_code_page():
    text = build_record(0x204, struct.pack("<HHHH", 0, 0, 0, 4) + "Łódź".encode("cp1250"))
    note = build_record(0x1C, struct.pack("<HHH", 1, 0, 5) + b"wrong")
    stream = build_records(text + build_number(1, 12.5) + note, version=EXCEL_5)
    read_in_both = [read_document(build_compound_file(stream), "x.xls"), read_document(stream, "x.xls")]
    for document in read_in_both:
        assert document.markdown.startswith("## A\n\nŁódź\n\n12.5\n\n> Comment at A2: wrong")


def test_a_bare_stream_of_records_is_read_as_a_workbook():
    cells = build_record(0x204, struct.pack("<HHHH", 0, 0, 0, 4) + b"Wend") + build_record(
        0x203, struct.pack("<HHHd", 1, 0, 0, 41)
    )
    assert read_document(
        build_record(0x809, struct.pack("<4H", 0, 16, 0, 0)) + cells + build_record(0x0A)
    ).markdown.endswith("Wend\n\n41")


def test_a_malformed_link_is_dropped_and_its_cell_kept():
    assert read_document(build_records(build_number(0, 41) + build_link(0, 0))).markdown == "## A\n\n[41](http://a)"
    assert read_document(build_records(build_number(0, 41) + build_link(0, 0, bytes(40)))).markdown == "## A\n\n41"


def test_a_damaged_sheet_is_read_as_far_as_it_goes_and_the_others_whole():
    damaged = build_number(0, 41) + build_number(1, 12.5, look=99)
    document = read_document(build_records(damaged, build_number(0, 7)))
    assert document.markdown == "## A\n\n41\n\n(the rest of this sheet is damaged)\n\n## B\n\n7"
    assert read_outcome(build_records(build_number(0, 41, look=99))) == "broken_file"


def test_a_small_file_cannot_expand_to_a_large_one():
    everywhere = build_link(65_535, 255)
    name = struct.pack("<HBBHHH4B", 0, 0, 1, 11, *([0] * 6)) + b"\0N"
    first = build_record(0x18, name + b"\x17\x08\0" + b"a" * 8)
    twice = [build_record(0x18, name + 2 * (b"\x23" + struct.pack("<L", at + 1)) + b"\x08") for at in range(40)]
    rows = (build_record(0x200, bytes(14)) + build_number(65_535, 41)) * 300
    for stream in (
        build_records(build_number(0, 41) + everywhere),
        build_records(build_number(0, 41), more=first + b"".join(twice)),
    ):
        assert read_document(stream).markdown == "## A\n\n41"
    assert read_document(build_records(rows)).markdown == "## A\n\n41"


@pytest.mark.parametrize(("kind", "size"), [(0x009, 4), (0x209, 6), (0x409, 6)])
def test_a_workbook_of_excel_2_to_4_is_refused_by_name(kind: int, size: int):
    with pytest.raises(Refused, match="Excel 4 or earlier") as caught:
        read_document(
            build_record(kind, struct.pack("<3H", 0, 16, 0)[:size]) + build_number(0, 1.5) + build_record(0x0A)
        )
    assert (caught.value.code, "save it as .xlsx" in caught.value.hint) == ("unreadable_type", True)


@pytest.mark.parametrize("stated", [0, 2, 3, 2_000_000_000])
def test_a_workbook_may_state_more_texts_than_it_holds(stated: int):
    texts = b"".join(struct.pack("<HB", len(text), 0) + text for text in (b"Wend", b"Tern"))
    shared = build_record(0xFC, struct.pack("<II", 2, stated) + texts)
    cells = b"".join(build_record(0xFD, struct.pack("<HHHL", at, 0, 0, at)) for at in range(min(2, stated)))
    shown = "Wend\n\nTern" if stated else ""
    assert read_document(build_records(cells, more=shared), "a.xls").markdown == f"## A\n\n{shown}".strip()
