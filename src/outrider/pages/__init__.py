"""Reading pages: fetched with manners, turned into Markdown, kept, and found again.

`Pages.read` gives a `Page`, whose `Document` is what a model reads; `extract` is HTML to a document
without any network.
"""

from outrider.pages.document import Document, ImageRef, Link
from outrider.pages.excerpt import Excerpt
from outrider.pages.extract import extract
from outrider.pages.images import SavedImage
from outrider.pages.library import LocalHit
from outrider.pages.page import Page
from outrider.pages.pages import Pages
from outrider.pages.settings import PagesSettings

__all__ = [
    "Document", "Excerpt", "ImageRef", "Link", "LocalHit", "Page", "Pages", "PagesSettings", "SavedImage", "extract",
]  # fmt: skip
