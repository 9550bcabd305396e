"""Define the fuzz targets: their inputs, and the checks of their results."""

import io
import zipfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evals.extraction.corpus import OWN, large, samples
from evals.fuzz.checks import CONTROL, Broken, agree, clean, linked, pointed
from evals.fuzz.mutate import Rng, mutated
from evals.fuzz.seeds import files

SMALL = 120_000  # bytes of a page that is taken as a seed: small ones are tried more often
URL = "https://site.example/folder/page?q=1"


class Target(Protocol):
    """Something that reads bytes; `reads` is how often it does for one input."""

    reads: int

    def make(self, rng: Rng) -> bytes:
        """The next input."""
        ...

    def problems(self, data: bytes) -> Iterator[str]:
        """What is wrong with the answer, one sentence each; anything that is raised is wrong too."""
        ...


class Content:
    """HTML through the model's own entry."""

    reads = 2

    def __init__(self) -> None:
        folder = large()
        pages = list(samples(OWN)) + (list(samples(folder))[::7] if folder else [])
        self._pages = [source for page in pages if len(source := page.html()) < SMALL]
        structure = Path(__file__).parents[1] / "structure" / "pages"
        self._pages += [path.read_bytes() for path in sorted(structure.glob("*.html"))]

    def make(self, rng: Rng) -> bytes:
        """A page or a piece of one, mutated."""
        data, other = rng.choice(self._pages), rng.choice(self._pages)
        if rng.random() < 0.7:
            start = rng.randrange(len(data))
            data = data[start : start + rng.choice((200, 2_000, 20_000))]
        return mutated(data, other, rng)

    def problems(self, data: bytes) -> Iterator[str]:
        """Of the main content and of the whole page."""
        from outrider.pages.extraction.main_content import extract_main_content

        for main in (True, False):
            found = extract_main_content(data, URL, main=main)
            yield from agree(found.text, found.markdown)
            if not found.text.strip() and (words := shown(data)):
                yield f"empty: the page shows {words[:60]!r}"


class Page(Content):
    """HTML through the public extractor."""

    def problems(self, data: bytes) -> Iterator[str]:
        """Of the main content and of the whole page."""
        from outrider import extract

        source = CONTROL.sub("", data.decode("utf-8", "replace"))
        for main in (True, False):
            document = extract(data, url=URL, main=main)
            yield from clean(document.markdown, document.text)
            yield from linked(document)
            yield from pointed(document.markdown, source)
            yield from agree(document.text, document.markdown)
            if not document.text.strip() and (words := shown(data)):
                yield f"empty: the page shows {words[:60]!r}"


UNSURE = (
    "[hidden], [style], [aria-hidden], template, noscript, dialog, details, video, audio, canvas, object, svg, select"
)


def shown(data: bytes) -> str:
    """Words that a page surely shows: paragraphs that nothing hides."""
    from outrider.pages.extraction.main_content import parse_html

    tree = parse_html(data)
    if tree.body is None or tree.css_first(UNSURE):
        return ""
    texts = (node.text(deep=False).strip() for node in tree.css("body > p, main > p, div > p"))
    return next((text for text in texts if len(text) > 20 and any(map(str.isalpha, text))), "")


class File:
    """Documents of every kind, or of some by their suffixes, through the readers, as their types would be sniffed."""

    reads = 1

    def __init__(self, only: Collection[str] = ()) -> None:
        self._files = files()
        self._kinds = sorted(kind for kind in self._files if not only or kind.endswith(tuple(only)))

    def make(self, rng: Rng) -> bytes:
        """The suffix of a kind in the first line, then a body; of archives mostly a member is mutated."""
        kind = rng.choice(self._kinds)
        data, other = self._files[kind], self._files[rng.choice(sorted(self._files))]
        if data[:2] == b"PK" and rng.random() < 0.9:
            with suppress(zipfile.BadZipFile):  # one that is cut
                return kind.encode() + b"\n" + _rezipped(data, rng)
        return kind.encode() + b"\n" + mutated(data, other, rng)

    def problems(self, data: bytes) -> Iterator[str]:
        """Of the reader that the registry chooses; refusals say what to do."""
        from outrider.core.errors import OutriderError
        from support.documents.office_files import read_document  # ty: ignore[import-not-found]

        kind, _, body = data.partition(b"\n")
        try:
            document = read_document(body, f"file.{kind.decode('ascii', 'replace')}")
        except OutriderError as error:
            if not error.message or not error.hint:
                yield "silent: an error without a message or a hint"
            return
        yield from clean(document.markdown, document.text)
        yield from linked(document)


def _rezipped(data: bytes, rng: Rng) -> bytes:
    """An archive of which one or two members are mutated."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        names = archive.namelist()
        chosen = rng.choices(names, k=2)
        for name in names:
            content = archive.read(name)
            made.writestr(name, mutated(content, archive.read(rng.choice(names)), rng) if name in chosen else content)
    return out.getvalue()


@dataclass(frozen=True)
class Bounds:
    """What one input may cost: CPU seconds, and bytes above what the process held before."""

    seconds: float = 5.0
    memory: int = 500 << 20


TARGETS: dict[str, type[Content] | type[File]] = {"content": Content, "page": Page, "document": File}


def check(target: Target, data: bytes) -> None:
    """Raises Broken with the first problem."""
    for problem in target.problems(data):
        raise Broken(problem)
