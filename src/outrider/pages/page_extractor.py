"""Turn a fetched body into a page with its document."""

from dataclasses import replace

import anyio

from outrider.core.errors import Refused
from outrider.core.http import HttpResponse
from outrider.pages.fetched_page import RENDERED_KEY, FetchedPage
from outrider.pages.fragment import UrlFragment
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import READ_TIME_SHARE, DocumentReader, ReaderInput, format_size
from outrider.pages.registry import find_reader, has_fragments, is_whole_body_needed, read_nested
from outrider.pages.settings import PagesSettings
from outrider.pages.worker.runner import ReaderRunner


class PageExtractor:
    """Extract documents in worker threads and processes, within the settings' limits."""

    def __init__(self, settings: PagesSettings) -> None:
        self._settings = settings
        self._runner = ReaderRunner()

    def needs_whole_body(self, response: HttpResponse) -> bool:
        """Return whether a body of this type cannot be read if its end is missing."""
        return is_whole_body_needed(detect_mime_type(response.content_type, response.body, response.url))

    def has_parts(self, content_type: str) -> bool:
        """Return whether an address may name a part of such a document, as `#page=12` does."""
        return has_fragments(content_type)

    async def extract_page(
        self, response: HttpResponse, url: str, fragment: UrlFragment, *, main: bool, fetched_at: float
    ) -> FetchedPage:
        """Return the page of a response.

        Args:
            response: A response with a body.
            url: The address that was requested, without fragment.
            fragment: The part of the document to read, ignored for types without parts.
            main: Whether to leave out what surrounds the main content.
            fetched_at: Seconds since the epoch.

        Raises:
            Refused: code `slow_document` if reading takes longer than the time left, or as the reader does.
            Unavailable: as the reader does.
        """
        # Reserved for stopping the reader and reporting that the rest was not enough.
        report_share, min_report_s, max_report_share = 0.1, 1.0, 0.25
        http_partial_content = 206
        size = response.full_bytes
        mime = detect_mime_type(response.content_type, response.body, response.url)
        reader = find_reader(mime, response.url, size)
        fragment = fragment if reader.has_fragments else UrlFragment()
        source = ReaderInput(response.body, response.url, mime, response.charset, main, read_nested=read_nested)
        seconds_left = anyio.current_effective_deadline() - anyio.current_time()
        report_s = max(seconds_left * report_share, min(min_report_s, seconds_left * max_report_share))
        with anyio.move_on_after(seconds_left - report_s):
            time_limit_s = seconds_left * READ_TIME_SHARE
            source = replace(source, first_page=fragment.page, file=fragment.file, time_limit_s=time_limit_s)
            document, html = await self._runner.read_document(reader, source)
            return FetchedPage(
                requested_url=url + fragment.suffix,
                url=response.url + fragment.suffix,
                status=response.status,
                content_type=mime,
                fetched_at=fetched_at,
                document=document,
                html=html,
                cut=response.is_truncated or response.status == http_partial_content,
            )
        # Trying again would take as long, so this is a refusal and not a timeout.
        raise Refused(
            f"{response.url} was fetched, but reading its {format_size(size)} takes longer than the "
            f"{self._settings.timeout_s:g} seconds allowed for a page",
            code="slow_document",
            hint="look for a smaller copy, a part of it or another format; an operator can raise pages.timeout_s",
        )

    async def extract_rendered(self, page: FetchedPage, html: str, *, main: bool) -> FetchedPage:
        """Return the page with the document of the HTML that a browser has rendered."""
        body = html.encode("utf-8", "replace")[: self._settings.max_bytes]
        reader: DocumentReader = find_reader("text/html")
        source = ReaderInput(body, page.url, "text/html", "utf-8", main, read_nested=read_nested)
        document, decoded_html = await self._runner.read_document(reader, source)
        document = replace(document, metadata=document.metadata | {RENDERED_KEY: True})
        return replace(page, document=document, html=decoded_html)
