"""Word documents from before 2007.

`tides.doc` is `tides.rtf` as LibreOffice saves it: `soffice --headless --convert-to doc tides.rtf`.
"""

import random
import struct
from pathlib import Path

import pytest

from outrider.core.errors import OutriderError, Refused
from outrider.pages.readers.office97.compound_file import CompoundFile
from support.documents.compound_files import build_compound_file
from support.documents.office_files import read_document

DOC = (Path(__file__).parents[3] / "data" / "documents" / "tides.doc").read_bytes()


def build_fib() -> int:
    """Return the offset of the main stream, whose first bytes identify the file."""
    return next(at for at in range(512, len(DOC), 512) if DOC.startswith(b"\xec\xa5", at))


def read_outcome(body: bytes) -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read_document(body, "x.doc").kind
    except OutriderError as error:
        return error.code if error.hint else "an error that says nothing"


def test_headings_lists_tables_links_and_notes_are_read():
    document = read_document(DOC)
    assert document.markdown == (
        "# Tides\n\nThe **old** light is 10⁶ years. See [the list](https://a.example/).[^1] Café 日.\n\n"
        "1. first\n2. second\n\n## Table\n\n| Light | Both | Both |\n| --- | --- | --- |\n| Wend | 41 | 1871 |\n"
        "| Tern | 12 | 1902 |\n\nThe end.\n\n[^1]: Of 1871."
    )
    assert (document.kind, document.title, document.author) == ("word", "Tide tables", "Ida Marsh")
    assert [link.url for link in document.links] == ["https://a.example/"]


def test_hidden_text_is_counted_and_deleted_text_dropped():
    document = read_document(DOC)
    assert document.metadata == {"hidden": 1}
    assert "ignore" not in document.text
    assert "gone" not in document.text


def test_a_password_protected_document_is_reported():
    body = bytearray(DOC)
    body[build_fib() + 11] |= 0x01
    with pytest.raises(Refused) as caught:
        read_document(bytes(body), "x.doc")
    assert caught.value.code == "encrypted"


def test_a_truncated_or_damaged_document_is_read_or_reported():
    chance = random.Random(5)
    bodies = [DOC[:end] for end in range(0, len(DOC), 400)]
    for _ in range(150):
        body = bytearray(DOC)
        for _ in range(chance.randint(1, 6)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        bodies.append(bytes(body))
    assert {read_outcome(body) for body in bodies} <= {
        "word",
        "broken_file",
        "encrypted",
        "unreadable_type",
        "missing_extra",
    }


def test_a_cyclic_chain_of_sectors_is_reported_as_broken():
    body = bytearray(DOC)
    sector = 512 * (1 + struct.unpack_from("<L", DOC, 76)[0])
    for at in range(sector, sector + 512, 4):
        struct.pack_into("<L", body, at, 1)
    with pytest.raises(OutriderError) as caught:
        read_document(bytes(body), "x.doc")
    assert caught.value.code == "broken_file"


def build_word6(*paragraphs: tuple[str, bytes]) -> bytes:
    """Build a Word 6 file: texts in CP1251, each with a property group that begins with a style."""
    texts = [text.encode("cp1251") for text, _ in paragraphs]
    body = b"".join(texts)
    edges = [0x400, *(0x400 + sum(map(len, texts[: count + 1])) for count in range(len(texts)))]
    page, at = bytearray(512), 510
    struct.pack_into(f"<{len(edges)}L", page, 0, *edges)
    for number, (_, properties) in enumerate(paragraphs):
        group = properties.ljust(len(properties) + len(properties) % 2, b"\x00")
        at -= 2 + len(group)
        page[4 * len(edges) + 7 * number] = at // 2
        page[at : at + 1 + len(group)] = bytes([len(group) // 2]) + group
    page[511] = len(texts)
    header = bytearray(0x400)
    struct.pack_into("<HH", header, 0, 0xA5DC, 101)
    struct.pack_into("<L", header, 24, 0x400)
    struct.pack_into("<L", header, 52, len(body))
    struct.pack_into("<LL", header, 88 + 8 * 13, 0x800, 10)
    pages = struct.pack("<LLH", edges[0], edges[-1], 3)
    return build_compound_file({"WordDocument": bytes(header) + body.ljust(512, b"\x00") + bytes(page) + pages})


def test_word_6_is_read_in_the_code_page_of_its_text():
    row, end = b"\x00\x00\x18\x01", b"\x00\x00\x18\x01\x19\x01"
    body = build_word6(
        ("Старый маяк\r", b"\x01\x00"),
        ("Он горит всю ночь, и лодки находят дорогу домой.\r", b"\x00\x00"),
        ("Маяк\x07", row), ("Метры\x07", row), ("\x07", end), ("Венд\x07", row), ("41\x07", row), ("\x07", end),
    )  # fmt: skip
    document = read_document(body, "x.doc")
    assert document.markdown.startswith("# Старый маяк\n\nОн горит всю ночь, и лодки находят дорогу домой.\n\n| Маяк |")
    assert document.tables == [[["Маяк", "Метры"], ["Венд", "41"]]]
    endless = bytearray(body)
    struct.pack_into("<L", endless, body.index(struct.pack("<HH", 0xA5DC, 101)) + 52, 0xFFFFFFFF)
    assert read_outcome(bytes(endless)) == "word"


def test_an_embedded_document_is_not_taken_for_the_outer_one():
    files = CompoundFile(DOC)
    streams = {name: files.read(name) for name in ("WordDocument", "1Table", "0Table")}
    streams = {name.lower(): stream for name, stream in streams.items() if stream}
    embedded = {"WordDocument": b"\xec\xa5".ljust(0x300, b"\x00")}
    # The embedded file comes first in the directory, and names may be in any case.
    body = build_compound_file({"A": embedded, **streams})
    assert "The **old** light" in read_document(body, "x.doc").markdown
