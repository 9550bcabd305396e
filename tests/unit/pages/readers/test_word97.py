"""Word documents from before 2007.

`tides.doc` is `tides.rtf` as LibreOffice saves it: `soffice --headless --convert-to doc tides.rtf`.
"""

import random
import struct
from pathlib import Path

import pytest

from outrider.core.errors import OutriderError, Refused
from support.documents.office_files import read_document

DOC = (Path(__file__).parents[3] / "data" / "documents" / "tides.doc").read_bytes()


def fib() -> int:
    """Where the main stream begins, whose first bytes tell what the file is."""
    return next(at for at in range(512, len(DOC), 512) if DOC.startswith(b"\xec\xa5", at))


def outcome(body: bytes) -> str:
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


def test_what_is_hidden_is_counted_and_what_is_deleted_is_gone():
    document = read_document(DOC)
    assert document.metadata == {"hidden": 1}
    assert "ignore" not in document.text
    assert "gone" not in document.text


def test_one_with_a_password_says_so():
    body = bytearray(DOC)
    body[fib() + 11] |= 0x01
    with pytest.raises(Refused) as caught:
        read_document(bytes(body), "x.doc")
    assert caught.value.code == "encrypted"


def test_one_that_is_cut_or_damaged_is_read_or_told():
    chance = random.Random(5)
    bodies = [DOC[:end] for end in range(0, len(DOC), 400)]
    for _ in range(150):
        body = bytearray(DOC)
        for _ in range(chance.randint(1, 6)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        bodies.append(bytes(body))
    assert {outcome(body) for body in bodies} <= {
        "word",
        "broken_file",
        "encrypted",
        "unreadable_type",
        "missing_extra",
    }


def test_a_chain_of_sectors_that_bites_its_tail_ends():
    body = bytearray(DOC)
    sector = 512 * (1 + struct.unpack_from("<L", DOC, 76)[0])
    for at in range(sector, sector + 512, 4):
        struct.pack_into("<L", body, at, 1)
    with pytest.raises(OutriderError) as caught:
        read_document(bytes(body), "x.doc")
    assert caught.value.code == "broken_file"
