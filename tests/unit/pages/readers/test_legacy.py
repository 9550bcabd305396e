"""Office files from before 2007: read where their parser is installed, else its name is told."""

import subprocess
import sys
from pathlib import Path

import pytest

from documents import read
from outrider.core.errors import Unavailable

XLS = Path(__file__).parents[3] / "data" / "documents" / "lights.xls"
WITHOUT = """
import sys
sys.modules["xberg"] = None  # what an interpreter without it finds
from pathlib import Path
from outrider.core.errors import NotConfigured
from outrider.pages.reader import Source
from outrider.pages.readers.legacy import reader
try:
    reader.read(Source(Path(sys.argv[1]).read_bytes(), "https://a.b/x.xls", "application/vnd.ms-excel"))
except NotConfigured as error:
    print(error.code, error.hint)
"""


def test_an_old_workbook_is_read():
    document = read(XLS.read_bytes())
    assert document.markdown == ("## Lights\n\n| Name | Height |\n| --- | --- |\n| Cape Wend | 41 |\n| Tern | 12.5 |")
    assert document.kind == "legacy"


def test_a_hidden_sheet_is_left_out_and_counted():
    document = read(XLS.with_name("hidden.xls").read_bytes())
    assert document.metadata == {"hidden": 1}
    assert "ignore" not in document.text
    assert "gulls" in document.text


@pytest.mark.parametrize("end", [600, 2_000, 4_000])
def test_one_that_is_cut_says_so(end: int):
    with pytest.raises(Unavailable) as caught:
        read(XLS.read_bytes()[:end], "x.xls")
    assert caught.value.code == "broken_file"


def test_without_its_parser_the_remedy_is_told():
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(XLS)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("missing_extra pip install 'outrider[documents]'")
