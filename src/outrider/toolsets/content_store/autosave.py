"""Save pages that tools read into the session's content store."""

import logging
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from outrider.content.models import ContentDraft
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.errors import NotConfigured, OutriderError
from outrider.pages.fetched_page import FetchedPage
from outrider.toolsets.content_store.sources import build_page_draft

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Autosave:
    """Saves pages to content stores.

    Attributes:
        content: The stores; None if content stores are not served.
        automatic: Whether pages are saved without a request.
    """

    content: ContentStores | None = None
    automatic: bool = True

    async def save_page_to(self, call: Call, page: FetchedPage, store_id: str) -> str:
        """Save a page into the given store and return its content id. Raises as `save_draft_to`."""
        return await self.save_draft_to(call, build_page_draft(page), store_id)

    async def save_draft_to(self, call: Call, draft: ContentDraft, store_id: str) -> str:
        """Save a text into a store, in place of its source's older one; return its id.

        Raises NotConfigured, code `no_content_store`, and the errors of the store.
        """
        if self.content is None:
            hint = "leave out `store_id`, or have an operator serve the toolset content_store"
            raise NotConfigured("store_id: content stores are not served here", code="no_content_store", hint=hint)
        return (await self.content.upsert_by_source(call, draft, store_id)).id

    async def save_page(self, call: Call, page: FetchedPage) -> str:
        """Save a page to the session's store; return its content id, or "" if it was not saved for any reason."""
        if self.content is None or not self.automatic:
            return ""
        return await self._save_draft(call, build_page_draft(page))

    async def save_rendered(self, call: Call, url: str, title: str, markdown: str) -> str:
        """Save a page that a browser shows; return its content id, or "" if it was not saved or has no web address."""
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
            log.warning("%s was read but not saved: %s", draft.source, error.message)
            return ""
