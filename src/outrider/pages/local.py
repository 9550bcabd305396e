"""A file at hand as a document: what it is, its content decides, then its name."""

from pathlib import PurePath

import anyio
from anyio.lowlevel import RunVar

from outrider.core.errors import Unavailable
from outrider.pages.content.writing.style import Links
from outrider.pages.document import Document
from outrider.pages.place import place_of, without_place
from outrider.pages.reader import READING, Source
from outrider.pages.registry import read_within, reader_for
from outrider.pages.settings import PagesSettings
from outrider.pages.sniffing.sniff import sniff
from outrider.pages.worker.run import Runner

_runner: RunVar[Runner] = RunVar("outrider.pages.local")


def _shared() -> Runner:
    """One runner for all files at hand, so that a hundred of them take no hundred processes."""
    try:
        return _runner.get()
    except LookupError:
        _runner.set(made := Runner())
        return made


async def read_body(
    body: bytes,
    *,
    name: str = "",
    url: str = "",
    main: bool = True,
    links: Links = "inline",
    images: bool = False,
    settings: PagesSettings | None = None,
) -> tuple[Document, str]:
    """The document that a body is, and its MIME type.

    Args:
        body: The bytes of any type that there is a reader for, pictures included.
        name: The file's name; its suffix decides where the content leaves it open, and `#page=12` behind it says
            from which page on a PDF is read, `#file=a.csv` which file of an archive.
        url: What relative links start from.
        main: Whether to leave out what surrounds the main content of a web page.
        links: How the Markdown of a web page writes them.
        images: Whether it shows pictures.
        settings: Limits; the defaults if not given.

    Raises:
        NotFound, InvalidInput: what stands behind `#` names no file of the archive, no page of the document.
        NotConfigured: code `missing_extra`, if the parser is not installed.
        Refused: code `unreadable_type`, `encrypted` or `too_large`.
        Unavailable: code `broken_file`, `unreadable`, or `timeout` at the deadline.
    """
    chosen = settings or PagesSettings()
    place, named = place_of(name or url), PurePath(without_place(name)).name
    mime = sniff("", body, named or url)
    reader = reader_for(mime, named or url, len(body), images=True)
    source = Source(
        body, url or named, mime, None, main,
        chars=chosen.extract_chars, tags=chosen.extract_tags, pages=chosen.pdf_max_pages, links=links, images=images,
        first=place.page, file=place.file, seconds=chosen.seconds * READING,
        within=read_within,
    )  # fmt: skip
    with anyio.move_on_after(chosen.seconds):
        return (await _shared().run(reader, source))[0], mime
    raise _late(named, chosen.seconds)


def _late(name: str, seconds: float) -> Unavailable:
    return Unavailable(
        f"{name or 'the document'} could not be read within {seconds:g} seconds",
        code="timeout",
        hint="give it more time with --set pages.seconds=120, or a smaller file",
    )
