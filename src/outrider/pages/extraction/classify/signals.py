"""Read the signals outside a page's text that reveal its kind."""

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

from outrider.pages.extraction.blocks.class_words import categorize_names
from outrider.pages.extraction.blocks.head_elements import HeadElements, collect_head_elements
from outrider.pages.extraction.blocks.page_blocks import Attributes

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


@dataclass(slots=True)
class PageSignals:
    """Facts about a whole page.

    Attributes:
        title: Of the title element and Open Graph.
        description: As declared, or "".
        generator: The programs that wrote the page, as declared, a line each.
        json_ld: The page's JSON-LD scripts, unparsed.
        schema_bits: One bit for each group of JSON-LD types that occurs.
        og_type: 1 for an Open Graph article, 2 for a product, 3 for a website, else 0.
        path_bits: Category bits of the words in the address.
        depth: Number of parts in the address's path.
        has_long_number: 1 if the path holds a number of four digits or more.
        has_query: 1 if the address has a query.
        base_url: The address that relative addresses start from.
        declared_parts: Lists of texts that the JSON-LD declares as content: ingredients, steps, answers.
    """

    title: str = ""
    description: str = ""
    generator: str = ""
    json_ld: str = ""
    schema_bits: int = 0
    og_type: int = 0
    path_bits: int = 0
    depth: int = 0
    has_long_number: int = 0
    has_query: int = 0
    base_url: str = ""
    declared_parts: list[list[str]] = field(default_factory=list)

    def add_meta_element(self, attributes: Attributes) -> None:
        """Add what a meta element declares."""
        max_generator_chars = 1_000
        name, content = (
            (attributes.get("property") or attributes.get("name") or "").lower(),
            attributes["content"] or "",
        )
        if name == "og:title":
            self.title = self.title + " " + content
        elif name in ("description", "og:description"):
            self.description = self.description or content
        elif name == "generator" and len(self.generator) < max_generator_chars:
            self.generator += f"{content}\n"
        elif name == "og:type":
            known_types = (("article", 1), ("product", 2), ("website", 3))
            self.og_type = next((number for name, number in known_types if name in content.lower()), 0)

    def add_url(self, url: str) -> None:
        """Add signals from the words and the form of the page's address."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return
        path = parts.path.strip("/")
        self.path_bits = categorize_names(path.replace("/", " ")) | categorize_names(
            (parts.hostname or "").replace(".", " ")
        )
        self.depth = path.count("/") + 1 if path else 0
        self.has_long_number = int(re.search(r"\d{4,}", path) is not None)
        self.has_query = int(bool(parts.query))

    def read_article_body(self) -> str:
        """Return the article's text that the JSON-LD declares, or ""."""
        match = re.search(r'"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")', self.json_ld)
        try:
            return str(json.loads(match[1])) if match else ""
        except ValueError:
            return ""


def read_signals(tree: Any, url: str, head_elements: HeadElements | None = None) -> PageSignals:
    """Read the signals of a parsed page."""
    max_json_ld_chars = 300_000
    head_elements = head_elements or collect_head_elements(tree)
    signals = PageSignals(title=head_elements.title)
    for attributes in head_elements.metas:
        signals.add_meta_element(attributes)
    scripts = [node.text() or "" for script_type, node in head_elements.scripts if script_type == "application/ld+json"]
    signals.json_ld = "\n".join(scripts)[:max_json_ld_chars]
    for kind in JSON_LD_TYPE_PATTERN.findall(signals.json_ld):
        if kind in SCHEMA_GROUP_NUMBERS:
            signals.schema_bits |= 1 << SCHEMA_GROUP_NUMBERS[kind]
    signals.add_url(url)
    signals.base_url = url
    if head_elements.base:
        with contextlib.suppress(ValueError):
            signals.base_url = urljoin(url, head_elements.base)
    return signals
