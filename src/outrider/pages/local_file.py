"""Read a local file by its content first, its name second."""

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
    """Return one runner for all files.

    A hundred files then do not start a hundred processes.
    """
    try:
        return _shared_runner.get()
    except LookupError:
        _shared_runner.set(runner := ReaderRunner())
        return runner


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
    """Return the document in a body, and its MIME type.

    Args:
        body: The bytes of any type with a reader, images included.
        name: The file's name; its suffix decides if the content is ambiguous. `#page=12` after it starts a PDF at that
            page, `#file=a.csv` selects a file of an archive.
        url: The base of relative links.
        main: Whether to leave out what surrounds the main content of a web page.
        links: How to write links in the Markdown of a web page.
        images: Whether the Markdown of a web page shows images.
        settings: Limits; the defaults if not given.

    Raises:
        NotFound, InvalidInput: the fragment names no file of the archive, or no page of the document.
        NotConfigured: code `missing_extra`, if the parser is not installed.
        Refused: code `unreadable_type`, `encrypted` or `too_large`.
        Unavailable: code `broken_file`, `unreadable`, or `timeout` at the deadline.
    """
    settings = settings or PagesSettings()
    fragment, file_name = parse_fragment(name or url), PurePath(strip_fragment(name)).name
    mime = detect_mime_type("", body, file_name or url)
    reader = find_reader(mime, file_name or url, len(body), images=True)
    source = ReaderInput(
        body, url or file_name, mime, None, main,
        first_page=fragment.page, file=fragment.file, time_limit_s=settings.timeout_s * READ_TIME_SHARE,
        links=links, images=images, read_nested=read_nested,
    )  # fmt: skip
    with anyio.move_on_after(settings.timeout_s):
        return (await _get_shared_runner().read_document(reader, source))[0], mime
    raise Unavailable(
        f"{file_name or 'the document'} was not read within {settings.timeout_s:g} seconds",
        code="timeout",
        hint="raise the limit with --set pages.timeout_s=120, or read a smaller file",
    )
