"""Rare office formats that need the extra `documents`."""

import subprocess
import sys
from pathlib import Path

import pytest

from outrider.core.errors import Unavailable
from outrider.core.installation import suggest_extra
from outrider.pages.document import Document
from outrider.pages.reader import ReaderInput
from outrider.pages.readers.legacy import reader
from support.documents.office_files import build_zip, read_document

XLS = Path(__file__).parents[3] / "data" / "documents" / "lights.xls"
WITHOUT = """
import sys
sys.modules["xberg"] = None  # what an interpreter without it finds
from pathlib import Path
from outrider.core.errors import NotConfigured
from outrider.pages.reader import ReaderInput
from outrider.pages.readers.legacy import reader
try:
    reader.read(ReaderInput(Path(sys.argv[1]).read_bytes(), "https://a.b/x.xls", "application/vnd.ms-excel"))
except NotConfigured as error:
    print(error.code, error.hint)
"""


def read_legacy(body: bytes) -> Document:
    """Read a workbook with the extra, which also reads those of Excel 95."""
    return reader.read(ReaderInput(body, "https://a.b/x.xls", "application/vnd.ms-excel"))


def test_an_old_workbook_is_read():
    document = read_legacy(XLS.read_bytes())
    assert document.markdown == ("## Lights\n\n| Name | Height |\n| --- | --- |\n| Cape Wend | 41 |\n| Tern | 12.5 |")
    assert document.kind == "legacy"


def test_a_hidden_sheet_is_left_out_and_counted():
    document = read_legacy(XLS.with_name("hidden.xls").read_bytes())
    assert document.metadata == {"hidden": 1}
    assert "ignore" not in document.text
    assert "gulls" in document.text


@pytest.mark.parametrize("end", [600, 2_000, 4_000])
def test_a_truncated_workbook_is_reported(end: int):
    with pytest.raises(Unavailable) as caught:
        read_legacy(XLS.read_bytes()[:end])
    assert caught.value.code == "broken_file"


def test_without_its_parser_the_remedy_is_reported():
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(XLS)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"missing_extra {suggest_extra('documents')}")


@pytest.mark.parametrize("name", ["a.pages", "a.numbers", "a.key"])
@pytest.mark.parametrize("member", ["Index/Document.iwa", "index.xml"])
def test_a_damaged_iwork_file_is_reported(name: str, member: str):
    with pytest.raises(Unavailable) as caught:
        read_document(build_zip({member: b"\0\0\0", "preview.jpg": b"x"}), name)
    assert caught.value.code == "broken_file"
