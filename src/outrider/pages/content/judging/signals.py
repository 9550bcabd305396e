"""What a page says about itself outside of its text, as far as it tells what kind of page it is."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from outrider.pages.content.walking.told import Told, told_by
from outrider.pages.content.walking.words import bits

LINKED = "application/ld+json"
LINKED_LIMIT = 300_000  # characters of JSON-LD that are looked at
TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(\w{1,60})')
TYPES = (
    (
        "article",
        "Article NewsArticle BlogPosting Report TechArticle ScholarlyArticle OpinionNewsArticle LiveBlogPosting",
    ),
    ("product", "Product ProductGroup IndividualProduct Offer AggregateOffer"),
    ("list", "ItemList CollectionPage OfferCatalog SearchResultsPage Blog"),
    ("forum", "DiscussionForumPosting QAPage Question Answer Comment"),
    ("service", "Service LocalBusiness ProfessionalService Store Restaurant MedicalBusiness FAQPage"),
    ("organisation", "Organization Corporation NewsMediaOrganization"),
    ("page", "WebPage WebSite AboutPage ContactPage"),
    ("crumbs", "BreadcrumbList"),
    ("work", "Recipe Event Movie Book VideoObject Course JobPosting SoftwareApplication Dataset HowTo PodcastEpisode"),
)
TYPE_NUMBER = {name: number for number, (_, names) in enumerate(TYPES) for name in names.split()}
BODY = re.compile(r'"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")')
DIGITS = re.compile(r"\d{4,}")


@dataclass(slots=True)
class Signals:
    """Page-level facts.

    Attributes:
        title: Of the title element or Open Graph, as declared.
        description: As declared; may be empty.
        linked: The page's JSON-LD scripts, raw.
        kinds: One bit for each group of JSON-LD types that occurs.
        og: 1 for an Open Graph article, 2 for a product, 3 for a website, 0 for none.
        path: Category bits of the words in the address's path.
        depth, digits, query: Of the address.
        base: What relative addresses start from.
    """

    title: str = ""
    description: str = ""
    linked: str = ""
    kinds: int = 0
    og: int = 0
    path: int = 0
    depth: int = 0
    digits: int = 0
    query: int = 0
    base: str = ""

    def body(self) -> str:
        """The article's text as the JSON-LD gives it; empty if it does not."""
        found = BODY.search(self.linked)
        try:
            return str(json.loads(found[1])) if found else ""
        except ValueError:
            return ""


def read_signals(tree: Any, url: str, told: Told | None = None) -> Signals:
    """The signals of a parsed page, which may have been asked what it tells."""
    told = told or told_by(tree)
    found = Signals(title=told.title)
    for given in told.metas:
        name = (given.get("property") or given.get("name") or "").lower()
        if name == "og:title":
            found.title = found.title + " " + (given["content"] or "")
        elif name in ("description", "og:description"):
            found.description = found.description or given["content"] or ""
        elif name == "og:type":
            found.og = _og(given["content"] or "")
    linked = [node.text() or "" for kind, node in told.scripts if kind == LINKED]
    found.linked = "\n".join(linked)[:LINKED_LIMIT]
    for kind in TYPE.findall(found.linked):
        if kind in TYPE_NUMBER:
            found.kinds |= 1 << TYPE_NUMBER[kind]
    _address(found, url)
    found.base = _base(told.base, url)
    return found


def _base(base: str, url: str) -> str:
    try:
        return urljoin(url, base) if base else url
    except ValueError:
        return url


def _og(value: str) -> int:
    value = value.lower()
    return 1 if "article" in value else 2 if "product" in value else 3 if "website" in value else 0


def _address(found: Signals, url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    path = parts.path.strip("/")
    found.path = bits(path.replace("/", " ")) | bits((parts.hostname or "").replace(".", " "))
    found.depth = path.count("/") + 1 if path else 0
    found.digits = int(DIGITS.search(path) is not None)
    found.query = int(bool(parts.query))
