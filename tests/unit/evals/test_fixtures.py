"""Corpora from other projects' test pages: which pages are taken, and which are left out."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from evals.extraction.corpus import read_samples
from evals.extraction.fixtures import PROJECTS, fetch_project, write_corpus

FERRIES_TEXT = "The ferries leave from the old pier again, said the master of the harbour on the coast. " * 4
FERRIES_HTML = '<link rel="canonical" href="https://www.coast.example/ferries"><nav>Home</nav><p>{}</p>'


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    for name, reference in (
        ("whole", FERRIES_TEXT),
        ("other", FERRIES_TEXT.replace("ferries", "trains")),
        ("short", "The ferries"),
    ):
        for kind, text in (("html", FERRIES_HTML.format(FERRIES_TEXT)), ("txt", reference)):
            file = folder / "tests/data" / kind / f"{name}.{kind}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    run_git(folder, "init", "--quiet")
    run_git(folder, "add", ".")
    run_git(folder, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "--quiet", "-m", "pages")
    return folder


def run_git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_only_pages_that_show_their_reference_are_taken(clone: Path, tmp_path: Path):
    known = next(each for each in PROJECTS if each.name == "newspaper")
    project = replace(known, commit=run_git(clone, "rev-parse", "HEAD"))
    fetch_project(project, str(clone), tmp_path / "files")
    assert write_corpus(project.read(tmp_path / "files"), tmp_path / "newspaper") == (1, 3)
    (sample,) = read_samples(tmp_path / "newspaper")
    assert (sample.id, sample.type, sample.site) == ("newspaper/whole", "article", "coast.example")
    assert sample.text == FERRIES_TEXT
    assert b"<nav>Home</nav>" in sample.read_html()
