"""PowerPoint presentations from before 2007.

`make.py` next to it makes `deck.ppt.xz` with python-pptx, and LibreOffice saves it.
"""

import lzma
import random
import struct
from pathlib import Path

import pytest

from outrider.core.errors import OutriderError, Refused
from support.documents.office_files import read_document

PPT = lzma.decompress((Path(__file__).parents[3] / "data" / "documents" / "deck.ppt.xz").read_bytes())
USER = struct.pack("<LL", 20, 0xE391C05F)  # of "Current User": its size, and the mark of a file that is not encrypted


def read_outcome(body: bytes) -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read_document(body, "x.ppt").kind
    except OutriderError as error:
        return error.code if error.hint else "an error that says nothing"


def test_slides_have_titles_points_notes_and_tables_cell_by_cell():
    document = read_document(PPT)
    assert document.markdown == (
        "--- slide 1 of 4 ---\n\n## Tides\n\n- in\n    - twice a däy\n- out\n\n> Notes: Speak slowly.\n> Then wait.\n\n"
        "--- slide 2 of 4 ---\n\n## Lights\n\n"
        "| Light | Height | Built |\n| --- | --- | --- |\n| Wend | 41 | 1871 |\n| Wend | 12 | 1902 |\n\n"
        "--- slide 3 of 4 is hidden and left out ---\n\n--- slide 4 of 4 ---\n\nin a group"
    )
    assert (document.kind, document.title) == ("powerpoint", "Tides")
    assert document.metadata == {"slides": 4, "hidden": 1}


def test_an_encrypted_presentation_is_reported():
    with pytest.raises(Refused) as caught:
        read_document(PPT.replace(USER, struct.pack("<LL", 20, 0xF3D1C4DF)))
    assert caught.value.code == "encrypted"


def test_slides_beyond_the_bound_are_reported():
    document = read_document(PPT, max_pages=1)
    assert "Lights" not in document.markdown
    assert document.metadata["cut"]


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.99])
def test_a_truncated_presentation_is_read_or_reported_as_broken(share: float):
    assert read_outcome(PPT[: int(len(PPT) * share)]) in ("powerpoint", "broken_file")


def test_a_presentation_damaged_anywhere_is_read_or_reported():
    rng = random.Random(7)
    for _ in range(60):
        body = bytearray(PPT)
        for _ in range(40):
            body[rng.randrange(len(body))] = rng.randrange(256)
        assert read_outcome(bytes(body)) in ("powerpoint", "broken_file", "encrypted", "unreadable_type")
