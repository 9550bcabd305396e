"""Reading pages: fetched with manners, turned into Markdown, kept, and found again.

`Pages.read` gives a `Page`, whose `Document` is what a model reads; `extract` is HTML to a document
without any network.
"""

import importlib
from typing import TYPE_CHECKING, Any

from outrider.pages.extract import extract  # at once: its module, which has the same name, would take its place

__all__ = [
    "Document", "Excerpt", "ImageRef", "Link", "LocalHit", "Page", "Pages", "PagesSettings", "SavedImage", "extract",
]  # fmt: skip

if TYPE_CHECKING:
    from outrider.pages.document import Document, ImageRef, Link
    from outrider.pages.excerpt import Excerpt
    from outrider.pages.images import SavedImage
    from outrider.pages.keeping.library import LocalHit
    from outrider.pages.page import Page
    from outrider.pages.pages import Pages
    from outrider.pages.settings import PagesSettings

# Where each of the others lives. They are imported when first asked for: `extract` needs neither HTTP nor a database,
# and who only starts needs none of them.
_HOMES = {
    "Document": "document", "Excerpt": "excerpt", "ImageRef": "document", "Link": "document",
    "LocalHit": "keeping.library", "Page": "page", "Pages": "pages", "PagesSettings": "settings",
    "SavedImage": "images",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'outrider.pages' has no attribute {name!r}")
    return getattr(importlib.import_module(f"outrider.pages.{_HOMES[name]}"), name)
