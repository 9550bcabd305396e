"""A file at hand as a document: what it is, its content decides, then its name."""

from pathlib import PurePath

import anyio
from anyio.lowlevel import RunVar

from outrider.core.errors import Unavailable
from outrider.pages.document import Document
from outrider.pages.extraction.markdown.style import LinkStyle
from outrider.pages.fragment import parse_fragment, strip_fragment
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import READ_TIME_SHARE, ReaderInput
from outrider.pages.registry import find_reader, read_nested
from outrider.pages.settings import PagesSettings
from outrider.pages.worker.runner import ReaderRunner

_shared_runner: RunVar[ReaderRunner] = RunVar("outrider.pages.local")


def _get_shared_runner() -> ReaderRunner:
    """One runner for all files at hand, so that a hundred of them take no hundred processes."""
    try:
        return _shared_runner.get()
    except LookupError:
        _shared_runner.set(made := ReaderRunner())
        return made


async def read_body(
    body: bytes,
    *,
    name: str = "",
    url: str = "",
    main: bool = True,
    links: LinkStyle = "inline",
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
    place, named = parse_fragment(name or url), PurePath(strip_fragment(name)).name
    mime = detect_mime_type("", body, named or url)
    reader = find_reader(mime, named or url, len(body), images=True)
    source = ReaderInput(
        body, url or named, mime, None, main,
        max_chars=chosen.extract_chars, max_tags=chosen.extract_tags, max_pages=chosen.pdf_max_pages, links=links, images=images,
        first_page=place.page, file=place.file, time_limit_s=chosen.seconds * READ_TIME_SHARE,
        read_nested=read_nested,
    )  # fmt: skip
    with anyio.move_on_after(chosen.seconds):
        return (await _get_shared_runner().read_document(reader, source))[0], mime
    raise _late(named, chosen.seconds)


def _late(name: str, seconds: float) -> Unavailable:
    return Unavailable(
        f"{name or 'the document'} could not be read within {seconds:g} seconds",
        code="timeout",
        hint="give it more time with --set pages.seconds=120, or a smaller file",
    )
