"""Load corpora of pages with their main content, and split them into folds."""

import gzip
import hashlib
import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

EXTRACTION_FOLDER = Path(__file__).parent
OWN_CORPUS = EXTRACTION_FOLDER / "corpus"
LARGE_CORPUS_VARIABLE = "OUTRIDER_WCXB"
PAGE_TYPES = ("article", "documentation", "service", "forum", "product", "collection", "listing")
SECOND_LEVEL_DOMAINS = frozenset("ac co com edu gob gov gouv govt mil ne net nom or org sch".split())  # noqa: SIM905


@dataclass(frozen=True)
class Sample:
    """An annotated page; its content has the phrases of `with_`, and not those of `without`."""

    id: str
    url: str
    type: str
    text: str
    with_: tuple[str, ...]
    without: tuple[str, ...]
    html_file: Path

    def read_html(self) -> bytes:
        """Return the page's source."""
        if self.html_file.suffix == ".gz":
            return gzip.decompress(self.html_file.read_bytes())
        return self.html_file.read_bytes()

    @property
    def site(self) -> str:
        """Return the registered domain, or the page itself without an address."""
        parts = (urlsplit(self.url).hostname or "").split(".")
        if len(parts) < 2:
            return f"page {self.id}"
        short = len(parts) > 2 and len(parts[-1]) == 2 and parts[-2] in SECOND_LEVEL_DOMAINS
        return ".".join(parts[-3 if short else -2 :])


def find_large_corpus() -> Path | None:
    """Return the large corpus's folder: from the variable, or the first one next to a parent folder."""
    large_corpus_name = "wcxb_dev"
    if named := os.environ.get(LARGE_CORPUS_VARIABLE):
        return Path(named)
    for folder in EXTRACTION_FOLDER.parents:
        for found in sorted(folder.glob(f"*/data/{large_corpus_name}")) + sorted(
            folder.glob(f"data/{large_corpus_name}")
        ):
            return found
    return None


def read_samples(folder: Path) -> Iterator[Sample]:
    """Yield the pages of a corpus: one JSON object per line in `pages.jsonl`."""
    for line in filter(None, (folder / "pages.jsonl").read_text(encoding="utf-8").split("\n")):
        page = json.loads(line)
        yield Sample(
            id=page["id"],
            url=page["url"] or "",
            type=page["type"],
            text=page["text"],
            with_=tuple(page.get("with") or ()),
            without=tuple(page.get("without") or ()),
            html_file=folder / page["html"],
        )


def compute_digest(folder: Path) -> str:
    """Return the SHA-256 of a corpus: its list of pages, then each source in order."""
    found = hashlib.sha256((folder / "pages.jsonl").read_bytes())
    for sample in read_samples(folder):
        found.update(sample.read_html())
    return found.hexdigest()


def split_folds(sites: list[str], count: int = 5, seed: int = 0) -> list[int]:
    """Return the fold of each page; all pages of a site are in one."""
    names = sorted(set(sites))
    random.Random(seed).shuffle(names)
    place = {name: at % count for at, name in enumerate(names)}
    return [place[site] for site in sites]
