"""PDF: pages that are pictures, whose text is recognized."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from outrider.pages.reader import ReaderInput
from outrider.pages.readers.pdf import read_pdf
from outrider.pages.readers.pdf_layout.recognition import find_tesseract
from support.documents.office_files import read_document
from support.documents.pdf_files import build_scanned_pdf, draw_text

with_rapidocr = pytest.mark.skipif(not find_spec("rapidocr"), reason="needs the extra `ocr`")
CONTENT = (
    draw_text(72, 700, "Lights of the coast", size=24)
    + draw_text(72, 650, "The harbour bell rings at dusk.", size=12)
    + draw_text(72, 600, "Boats come home with the tide.", size=12)
)


@with_rapidocr
def test_text_recognized_on_a_scanned_page_is_reported_as_such():
    document = read_document(build_scanned_pdf(CONTENT))
    assert "# Lights of the coast\n\nThe harbour bell rings at dusk." in document.markdown
    assert "was recognized in pictures" in document.markdown
    assert document.metadata == {"pages": 1, "scanned": False, "recognized": [1]}


@with_rapidocr
def test_a_scanned_page_without_time_for_recognition_names_the_setting_to_raise():
    document = read_pdf(ReaderInput(build_scanned_pdf(CONTENT), "a.pdf", "application/pdf", time_limit_s=0))
    assert document.metadata["scanned"]
    assert "raise pages.timeout_s" in document.markdown


def test_tesseract_gets_a_picture_and_its_words_become_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = [  # level, page, block, paragraph, line, word, left, top, width, height, certainty, text
        "4 1 1 1 1 0 10 10 300 20 -1 ",
        "5 1 1 1 1 1 10 10 60 20 96 Boats",
        "5 1 1 1 1 2 75 10 40 20 91 home",
        "5 1 1 1 1 3 300 10 40 20 95 12",
        "5 1 1 1 2 1 10 40 60 20 12 smudge",
    ]
    table = "\n".join(["level", *("\t".join(row.split(" ")) for row in rows)])
    program = tmp_path / "tesseract"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "if '--list-langs' in sys.argv: print('List:\\neng\\nosd')\n"
        f"elif sys.stdin.buffer.read() == b'P5 3 2 255\\n' + b'\\xff' * 6 and 'eng' in sys.argv: print({table!r})\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    recognize = find_tesseract()
    assert recognize
    texts, is_complete = recognize(np.full((2, 3), 255, np.uint8), 60)
    assert [(text.text, text.left, text.right) for text in texts] == [("Boats home", 10, 115), ("12", 300, 340)]
    assert is_complete


@pytest.mark.skipif(not shutil.which("tesseract"), reason="needs Tesseract: apt-get install tesseract-ocr")
def test_the_installed_tesseract_reads_a_page():
    with_tesseract = find_tesseract()
    assert with_tesseract
    picture = np.full((80, 200), 255, np.uint8)
    assert with_tesseract(picture, 60) == ([], True)
