"""What is read is kept: pages go to the session's own store, where content stores are served."""

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from outrider.content.models import ContentDraft
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.errors import NotConfigured, OutriderError
from outrider.toolsets.content_store.sources import build_page_draft

if TYPE_CHECKING:
    from outrider.pages.fetched_page import FetchedPage

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Autosave:
    """Offers readings to the store.

    Attributes:
        content: Where they go; None where content stores are not served.
        automatic: Whether readings are kept that nobody asked to keep.
    """

    content: ContentStores | None = None
    automatic: bool = True

    async def save_page_to(self, call: Call, page: "FetchedPage", store_id: str) -> str:
        """Puts a page into a store that somebody asked for, and gives its id there.

        Raises NotConfigured, code `no_content_store`, and the errors of the store.
        """
        if self.content is None:
            hint = "leave out `store_id`, or have an operator serve the toolset content_store"
            raise NotConfigured("store_id: content stores are not served here", code="no_content_store", hint=hint)

        return (await self.content.upsert_by_source(call, build_page_draft(page), store_id)).id

    async def save_page(self, call: Call, page: "FetchedPage") -> str:
        """The id under which a page is kept now; empty if it is not. A store in trouble costs no reading."""
        if self.content is None or not self.automatic:
            return ""

        return await self._save_draft(call, build_page_draft(page))

    async def save_rendered(self, call: Call, url: str, title: str, markdown: str) -> str:
        """The id under which a page is kept now that a browser shows; empty if it is not, or has no web address."""
        if self.content is None or not self.automatic or not url.startswith(("http://", "https://")):
            return ""
        name = urlsplit(url).netloc
        draft = ContentDraft(markdown, filename=name, mime_type="text/html", source=url, title=title, markdown=True)
        return await self._save_draft(call, draft)

    async def _save_draft(self, call: Call, draft: ContentDraft) -> str:
        if self.content is None or not draft.text.strip():
            return ""
        try:
            return (await self.content.upsert_by_source(call, replace(draft, unasked=True))).id
        except OutriderError as error:
            log.warning("%s is read and not kept: %s", draft.source, error.message)
            return ""
