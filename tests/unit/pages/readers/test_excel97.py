"""Excel workbooks from before 2007, read without any extra.

`book.xls.xz` is what `make.py` beside it makes with openpyxl, as LibreOffice saves it; `lights.xls` is written by xlwt.
"""

import lzma
import random
import struct
from pathlib import Path

import pytest

from documents import read
from outrider.core.errors import OutriderError, Refused

DATA = Path(__file__).parents[3] / "data" / "documents"
XLS = lzma.decompress((DATA / "book.xls.xz").read_bytes())
LIGHTS = (DATA / "lights.xls").read_bytes()


def outcome(body: bytes) -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read(body, "x.xls").kind
    except OutriderError as error:
        return error.code if error.hint else "an error that says nothing"


def test_cells_are_shown_as_their_formats_mean_them_and_what_is_hidden_is_left_out():
    document = read(XLS)
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


def test_texts_that_go_on_in_the_next_record_are_whole():
    rows = read(XLS).tables[-1]
    wanted = [f"n{row} " + ("äöü" if row % 3 else "日本 ") * (row % 40) for row in range(300)]
    assert [row[0] for row in rows] == [" ".join(text.split()) for text in wanted]


def test_numbers_of_every_length_are_read():
    assert read(LIGHTS).tables == [[["Name", "Height"], ["Cape Wend", "41"], ["Tern", "12.5"]]]


def test_an_encrypted_one_says_so():
    protected = struct.pack("<HH", 0x2F, 2)  # where a harmless record of the same length stands otherwise
    harmless = struct.pack("<HH", 0x42, 2)
    assert harmless in LIGHTS
    with pytest.raises(Refused) as caught:
        read(LIGHTS.replace(harmless, protected, 1))
    assert caught.value.code == "encrypted"


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.99])
def test_one_that_is_cut_is_read_or_told_to_be_broken(share: float):
    assert outcome(XLS[: int(len(XLS) * share)]) in ("excel", "broken_file")


def test_one_whose_end_is_missing_says_so():
    place = LIGHTS.find("Workbook".encode("utf-16-le")) + 120  # where the directory tells the length of the stream
    longer = struct.pack("<L", struct.unpack_from("<L", LIGHTS, place)[0] + 5_000)
    cut = read(LIGHTS[:place] + longer + LIGHTS[place + 4 :])
    assert cut.markdown.endswith("| Tern | 12.5 |\n\n(the end of this file is missing)")
    assert cut.metadata["cut"]


def test_damage_anywhere_is_read_or_told():
    rng = random.Random(7)
    for _ in range(100):
        body = bytearray(LIGHTS)
        for _ in range(rng.choice((1, 10, 100))):
            body[rng.randrange(len(body))] = rng.randrange(256)
        assert outcome(bytes(body)) in ("excel", "legacy", "broken_file", "encrypted", "unreadable_type", "text")
