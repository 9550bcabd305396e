"""A page that was read: what was asked for, what answered, and its document."""

from dataclasses import dataclass

from outrider.pages.document import Document
from outrider.pages.fetching.failures import is_login_page

RENDERED_KEY = "rendered"  # in the metadata of a document that a browser has made


@dataclass(frozen=True)
class FetchedPage:
    """The result of one reading that worked; failures are errors, never pages.

    Attributes:
        requested_url: The address asked for, normalised.
        url: The address that answered, after redirects.
        status: Its HTTP status, 200 to 299.
        content_type: The MIME type it was read as, which sniffing may have corrected.
        fetched_at: When the content was fetched, in seconds since the epoch.
        document: The content.
        html: The decoded source of an HTML page, else None.
        from_cache: The content comes from the cache.
        revalidated: The origin has just confirmed the cached content.
        stale: The origin did not answer; the cached content is older than it should be.
        cut: There was more than the size limit let through.
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
        """Whether a browser has run its scripts first."""
        return bool(self.document.metadata.get(RENDERED_KEY))

    @property
    def is_nearly_empty(self) -> bool:
        """Whether there is next to no text."""
        min_text_chars = 200  # characters of text below which a page with scripts is worth rendering
        return len(self.document.text) < min_text_chars

    @property
    def is_script_shell(self) -> bool:
        """Whether there is next to no text, but scripts that may draw some."""
        return self.html is not None and self.is_nearly_empty and bool(self.document.metadata.get("scripts"))

    @property
    def is_login_page(self) -> bool:
        """Whether it asks for a password and shows little else."""
        return is_login_page(self.html or "", self.document.text)

    @property
    def title(self) -> str:
        """The document's title, else the address."""
        return self.document.title or self.url
