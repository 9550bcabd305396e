"""A page that was fetched, with its document."""

import re
from dataclasses import dataclass

from outrider.pages.document import Document
from outrider.pages.fetching.failures import MAX_CHALLENGE_CHARS
from outrider.pages.urls import resolve_url

RENDERED_KEY = "rendered"  # in the metadata of documents from a browser
MARKDOWN_TWIN_KEY = "markdown_twin"  # in the metadata of web pages: the address of the site's own Markdown
PASSWORD_INPUT = re.compile(r"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password", re.IGNORECASE)
READ_THROUGH_KEY = "read_through"  # in the metadata of documents from a reader service: its host
# Pages that only redirect their reader (html.spec.whatwg.org, "attr-meta-http-equiv-refresh").
META_REFRESH = re.compile(r"<meta\b[^>]{0,300}?http-equiv\s*=\s*[\"']?refresh\b[^>]{0,2000}>", re.IGNORECASE)
CONTENT_ATTRIBUTE = re.compile(r"content\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
REFRESH_TARGET = re.compile(r"\s*(\d{1,3})(?:\.\d*)?\s*[;,]?\s*url\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


@dataclass(frozen=True)
class FetchedPage:
    """The result of a successful read; failures are errors, never pages.

    Attributes:
        requested_url: The requested address, normalized.
        url: The address after redirects.
        status: The HTTP status, 200 to 299.
        content_type: The MIME type, which sniffing may have corrected.
        fetched_at: Seconds since the epoch.
        document: The content.
        html: The decoded source of an HTML page, else None.
        from_cache: The content comes from the cache.
        revalidated: The server has just confirmed the cached content.
        stale: The server did not answer; the cached content is older than it should be.
        cut: The body was longer than the size limit.
    """

    requested_url: str
    url: str
    status: int
    content_type: str
    fetched_at: float
    document: Document
    html: str | None = None
    from_cache: bool = False
    revalidated: bool = False
    stale: bool = False
    cut: bool = False

    @property
    def is_rendered(self) -> bool:
        """Whether a browser has run the page's scripts first."""
        return bool(self.document.metadata.get(RENDERED_KEY))

    @property
    def read_through(self) -> str:
        """The host of the reader service that received the address and read the page; empty if none has."""
        return str(self.document.metadata.get(READ_THROUGH_KEY, ""))

    @property
    def markdown_twin(self) -> str:
        """The address of the site's own Markdown, if the text is from there; else empty."""
        return str(self.document.metadata.get(MARKDOWN_TWIN_KEY, ""))

    @property
    def is_negotiated_markdown(self) -> bool:
        """Whether the site has sent Markdown instead of the page, whose source is unknown."""
        return bool(self.markdown_twin) and self.html is None

    @property
    def is_nearly_empty(self) -> bool:
        """Whether the page has almost no text."""
        min_text_chars = 200  # below which a page with scripts is worth rendering
        return len(self.document.text) < min_text_chars

    @property
    def is_script_shell(self) -> bool:
        """Whether the page has almost no text, but scripts that may add some."""
        return self.html is not None and self.is_nearly_empty and bool(self.document.metadata.get("scripts"))

    @property
    def is_login_page(self) -> bool:
        """Whether the page asks for a password and shows little else."""
        has_little_text = len(self.document.text) < MAX_CHALLENGE_CHARS
        return has_little_text and PASSWORD_INPUT.search(self.html or "") is not None

    @property
    def title(self) -> str:
        """The document's title, else the address."""
        return self.document.title or self.url

    def find_refresh_target(self) -> str:
        """Return the address to which a nearly empty page redirects at once.

        It is that of a meta element; an empty string without one.
        """
        head_chars = 20_000  # the element is near the beginning
        max_delay_s = 5  # a page with a longer delay should be read first
        if self.html is None or not self.is_nearly_empty:
            return ""
        element = META_REFRESH.search(self.html[:head_chars])
        content = CONTENT_ATTRIBUTE.search(element[0]) if element else None
        refresh = REFRESH_TARGET.match(next(filter(None, content.groups()), "")) if content else None
        if refresh is None or int(refresh[1]) > max_delay_s:
            return ""
        target = resolve_url(refresh[2].replace("&amp;", "&"), self.url).partition("#")[0]
        return target if target.startswith("http") and target != self.url else ""


def describe_remote_reading(page: FetchedPage) -> str:
    """Return a note that a reader service received the address and read the page; empty if none has."""
    if not page.read_through:
        return ""
    return f"the site refused, so {page.read_through} received this address and read the page"
