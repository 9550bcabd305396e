"""Detect whether the code on disk has changed."""

import os
from pathlib import Path

import pytest

from outrider.app.daemon.code_version import fingerprint_code, is_newer_version


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "sub" / "__pycache__").mkdir(parents=True)
    (tmp_path / "one.py").write_text("1")
    (tmp_path / "sub" / "two.py").write_text("2")
    return tmp_path


def test_unchanged_code_has_the_same_fingerprint(package: Path):
    before = fingerprint_code(package)
    (package / "sub" / "__pycache__" / "two.pyc").write_text("compiled")
    assert fingerprint_code(package) == before


def test_every_code_change_changes_the_fingerprint(package: Path):
    seen = [fingerprint_code(package)]
    (package / "sub" / "three.py").write_text("3")
    seen.append(fingerprint_code(package))
    os.utime(package / "one.py", ns=(1, 1))
    seen.append(fingerprint_code(package))
    (package / "one.py").unlink()
    seen.append(fingerprint_code(package))
    assert len(set(seen)) == 4


@pytest.mark.parametrize(("one", "other"), [("0.2.0", "0.1.9"), ("0.10.0", "0.9.3"), ("1.0", "0.99"), ("1.0.1", "1.0")])
def test_a_later_release_is_newer(one: str, other: str):
    assert is_newer_version(one, other)
    assert not is_newer_version(other, one)
    assert not is_newer_version(one, one)
