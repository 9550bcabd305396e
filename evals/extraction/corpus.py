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

HERE = Path(__file__).parent
OWN = HERE / "corpus"
LARGE = "wcxb_dev"
VARIABLE = "OUTRIDER_WCXB"
TYPES = ("article", "documentation", "service", "forum", "product", "collection", "listing")
SECOND_LEVEL = frozenset("ac co com edu gob gov gouv govt mil ne net nom or org sch".split())  # noqa: SIM905


@dataclass(frozen=True)
class Sample:
    """An annotated page; `with_` and `without` are phrases that belong to its content and that do not."""

    id: str
    url: str
    type: str
    text: str
    with_: tuple[str, ...]
    without: tuple[str, ...]
    html_file: Path

    def html(self) -> bytes:
        """The page's source."""
        if self.html_file.suffix == ".gz":
            return gzip.decompress(self.html_file.read_bytes())
        return self.html_file.read_bytes()

    @property
    def site(self) -> str:
        """The registered domain, by the shape of the host's name; the page itself where there is no address."""
        parts = (urlsplit(self.url).hostname or "").split(".")
        if len(parts) < 2:
            return f"page {self.id}"
        short = len(parts) > 2 and len(parts[-1]) == 2 and parts[-2] in SECOND_LEVEL
        return ".".join(parts[-3 if short else -2 :])


def large() -> Path | None:
    """The folder of the large corpus: the variable's, or the first of that name beside any folder above."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    for folder in HERE.parents:
        for found in sorted(folder.glob(f"*/data/{LARGE}")) + sorted(folder.glob(f"data/{LARGE}")):
            return found
    return None


def samples(folder: Path) -> Iterator[Sample]:
    """The pages of a corpus: one JSON object a line in `pages.jsonl`."""
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


def digest(folder: Path) -> str:
    """SHA-256 of a corpus: its list of pages, then each page's source in order."""
    found = hashlib.sha256((folder / "pages.jsonl").read_bytes())
    for sample in samples(folder):
        found.update(sample.html())
    return found.hexdigest()


def folds(sites: list[str], count: int = 5, seed: int = 0) -> list[int]:
    """The fold of each page, all pages of a site in one."""
    names = sorted(set(sites))
    random.Random(seed).shuffle(names)
    place = {name: at % count for at, name in enumerate(names)}
    return [place[site] for site in sites]
