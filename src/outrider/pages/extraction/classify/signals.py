"""What a page says about itself outside of its text, as far as it tells what kind of page it is."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from outrider.pages.extraction.blocks.class_words import categorize_names
from outrider.pages.extraction.blocks.head_elements import HeadElements, collect_head_elements

JSON_LD_TYPE_PATTERN = re.compile(r'"@type"\s*:\s*\[?\s*"(\w{1,60})')
SCHEMA_TYPE_GROUPS = (
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
SCHEMA_GROUP_NUMBERS = {name: number for number, (_, names) in enumerate(SCHEMA_TYPE_GROUPS) for name in names.split()}
ARTICLE_BODY_PATTERN = re.compile(r'"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")')
LONG_NUMBER_PATTERN = re.compile(r"\d{4,}")


@dataclass(slots=True)
class PageSignals:
    """Page-level facts.

    Attributes:
        title: Of the title element or Open Graph, as declared.
        description: As declared; may be empty.
        json_ld: The page's JSON-LD scripts, raw.
        schema_bits: One bit for each group of JSON-LD types that occurs.
        og_type: 1 for an Open Graph article, 2 for a product, 3 for a website, 0 for none.
        path_bits: Category bits of the words in the address's path.
        depth, digits, query: Of the address.
        base_url: What relative addresses start from.
    """

    title: str = ""
    description: str = ""
    json_ld: str = ""
    schema_bits: int = 0
    og_type: int = 0
    path_bits: int = 0
    depth: int = 0
    has_long_number: int = 0
    has_query: int = 0
    base_url: str = ""

    def read_article_body(self) -> str:
        """The article's text as the JSON-LD gives it; empty if it does not."""
        found = ARTICLE_BODY_PATTERN.search(self.json_ld)
        try:
            return str(json.loads(found[1])) if found else ""
        except ValueError:
            return ""


def read_signals(tree: Any, url: str, head_elements: HeadElements | None = None) -> PageSignals:
    """The signals of a parsed page, which may have been asked what it tells."""
    max_json_ld_chars = 300_000  # characters of JSON-LD that are looked at
    json_ld_type = "application/ld+json"
    head_elements = head_elements or collect_head_elements(tree)
    found = PageSignals(title=head_elements.title)
    for given in head_elements.metas:
        name = (given.get("property") or given.get("name") or "").lower()
        if name == "og:title":
            found.title = found.title + " " + (given["content"] or "")
        elif name in ("description", "og:description"):
            found.description = found.description or given["content"] or ""
        elif name == "og:type":
            found.og_type = _parse_og_type(given["content"] or "")
    linked = [node.text() or "" for kind, node in head_elements.scripts if kind == json_ld_type]
    found.json_ld = "\n".join(linked)[:max_json_ld_chars]
    for kind in JSON_LD_TYPE_PATTERN.findall(found.json_ld):
        if kind in SCHEMA_GROUP_NUMBERS:
            found.schema_bits |= 1 << SCHEMA_GROUP_NUMBERS[kind]
    _add_url_signals(found, url)
    found.base_url = _resolve_base(head_elements.base, url)
    return found


def _resolve_base(base: str, url: str) -> str:
    try:
        return urljoin(url, base) if base else url
    except ValueError:
        return url


def _parse_og_type(value: str) -> int:
    value = value.lower()
    return 1 if "article" in value else 2 if "product" in value else 3 if "website" in value else 0


def _add_url_signals(found: PageSignals, url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    path = parts.path.strip("/")
    found.path_bits = categorize_names(path.replace("/", " ")) | categorize_names(
        (parts.hostname or "").replace(".", " ")
    )
    found.depth = path.count("/") + 1 if path else 0
    found.has_long_number = int(LONG_NUMBER_PATTERN.search(path) is not None)
    found.has_query = int(bool(parts.query))
