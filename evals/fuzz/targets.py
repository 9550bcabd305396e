"""Define the fuzz targets: their inputs, and the checks of their results."""

import io
import zipfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evals.extraction.corpus import OWN_CORPUS, find_large_corpus, read_samples
from evals.fuzz.checks import (
    CONTROL,
    BrokenInvariant,
    check_control_characters,
    check_link_targets,
    check_links,
    check_words_agree,
)
from evals.fuzz.mutate import Rng, mutate_input
from evals.fuzz.seeds import build_seeds

PAGE_URL = "https://site.example/folder/page?q=1"


class Target(Protocol):
    """A reader of bytes; `reads` is how often it reads one input."""

    reads: int

    def make_input(self, rng: Rng) -> bytes:
        """Make the next input."""
        ...

    def find_problems(self, data: bytes) -> Iterator[str]:
        """Yield the problems of the result; any exception is also a problem."""
        ...


class ContentTarget:
    """Read HTML through the entry of the model."""

    reads = 2

    def __init__(self) -> None:
        max_seed_bytes = 120_000  # bytes of a seed page, because small ones can be tried more often
        folder = find_large_corpus()
        pages = list(read_samples(OWN_CORPUS)) + (list(read_samples(folder))[::7] if folder else [])
        self._pages = [source for page in pages if len(source := page.read_html()) < max_seed_bytes]
        structure = Path(__file__).parents[1] / "structure" / "pages"
        self._pages += [path.read_bytes() for path in sorted(structure.glob("*.html"))]

    def make_input(self, rng: Rng) -> bytes:
        """Mutate a page or a piece of one."""
        data, other = rng.choice(self._pages), rng.choice(self._pages)
        if rng.random() < 0.7:
            start = rng.randrange(len(data))
            data = data[start : start + rng.choice((200, 2_000, 20_000))]
        return mutate_input(data, other, rng)

    def find_problems(self, data: bytes) -> Iterator[str]:
        """Yield the problems of the main content and of the whole page."""
        from outrider.pages.extraction.main_content import extract_main_content

        for main in (True, False):
            found = extract_main_content(data, PAGE_URL, main=main)
            yield from check_words_agree(found.text, found.markdown)
            if not found.text.strip() and (words := find_visible_text(data)):
                yield f"empty: the page shows {words[:60]!r}"


class PageTarget(ContentTarget):
    """Read HTML through the public extractor."""

    def find_problems(self, data: bytes) -> Iterator[str]:
        """Yield the problems of the main content and of the whole page."""
        from outrider import extract

        source = CONTROL.sub("", data.decode("utf-8", "replace"))
        for main in (True, False):
            document = extract(data, url=PAGE_URL, main=main)
            yield from check_control_characters(document.markdown, document.text)
            yield from check_links(document)
            yield from check_link_targets(document.markdown, source)
            yield from check_words_agree(document.text, document.markdown)
            if not document.text.strip() and (words := find_visible_text(data)):
                yield f"empty: the page shows {words[:60]!r}"


def find_visible_text(data: bytes) -> str:
    """Return words that a page certainly shows, from a paragraph that nothing hides."""
    unsure_elements = "[hidden], [style], [aria-hidden], template, noscript, dialog, details, video, audio, canvas, object, svg, select"
    from outrider.pages.extraction.main_content import parse_html

    tree = parse_html(data)
    if tree.body is None or tree.css_first(unsure_elements):
        return ""
    texts = (node.text(deep=False).strip() for node in tree.css("body > p, main > p, div > p"))
    return next((text for text in texts if len(text) > 20 and any(map(str.isalpha, text))), "")


class DocumentTarget:
    """Read documents of all or some kinds through the readers."""

    reads = 1

    def __init__(self, only: Collection[str] = ()) -> None:
        self._files = build_seeds()
        self._kinds = sorted(kind for kind in self._files if not only or kind.endswith(tuple(only)))

    def make_input(self, rng: Rng) -> bytes:
        """Return the suffix of a kind, a line break, and a mutated body."""
        kind = rng.choice(self._kinds)
        data, other = self._files[kind], self._files[rng.choice(sorted(self._files))]
        if data[:2] == b"PK" and rng.random() < 0.9:
            with suppress(zipfile.BadZipFile):  # a truncated archive
                return kind.encode() + b"\n" + _mutate_members(data, rng)
        return kind.encode() + b"\n" + mutate_input(data, other, rng)

    def find_problems(self, data: bytes) -> Iterator[str]:
        """Yield the problems of the chosen reader; refusals must say what to do."""
        from outrider.core.errors import OutriderError
        from support.documents.office_files import read_document  # ty: ignore[import-not-found]

        kind, _, body = data.partition(b"\n")
        try:
            document = read_document(body, f"file.{kind.decode('ascii', 'replace')}")
        except OutriderError as error:
            if not error.message or not error.hint:
                yield "silent: an error without a message or a hint"
            return
        yield from check_control_characters(document.markdown, document.text)
        yield from check_links(document)


def _mutate_members(data: bytes, rng: Rng) -> bytes:
    """Mutate one or two members of an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        names = archive.namelist()
        chosen = rng.choices(names, k=2)
        for name in names:
            content = archive.read(name)
            made.writestr(
                name, mutate_input(content, archive.read(rng.choice(names)), rng) if name in chosen else content
            )
    return out.getvalue()


@dataclass(frozen=True)
class Bounds:
    """Limits for one input: CPU seconds, and additional bytes of memory."""

    seconds: float = 5.0
    memory: int = 500 << 20


TARGETS: dict[str, type[ContentTarget] | type[DocumentTarget]] = {
    "content": ContentTarget,
    "page": PageTarget,
    "document": DocumentTarget,
}


def check_input(target: Target, data: bytes) -> None:
    """Raise `BrokenInvariant` with the first problem."""
    for problem in target.find_problems(data):
        raise BrokenInvariant(problem)
