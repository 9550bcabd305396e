"""Read a page's declared facts: Open Graph, Dublin Core, JSON-LD, titles, lines around its headline.

Dates and names are looked for only there: searching the whole text finds a date on most pages that have none.
"""

import json
import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from outrider.pages.document import to_single_line
from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS as CATEGORY
from outrider.pages.extraction.blocks.head_elements import HeadElements
from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, Attributes, PageBlocks
from outrider.pages.extraction.metadata.bylines import find_byline, is_real_author
from outrider.pages.extraction.metadata.dates import find_line_dates, is_other_event, parse_declared_date
from outrider.pages.extraction.metadata.titles import (
    SiteNames,
    build_site_names,
    choose_title,
    find_chapter_heading,
    find_headline,
    find_title_line,
)
from outrider.pages.urls import resolve_url

ADDRESS_PATTERN = re.compile(r"://|\S@\S+\.\S")
LANGUAGE_TAG_PATTERN = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
PUBLISHED_META_NAMES = (
    "article:published_time",
    "datepublished",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "date",
    "pubdate",
)
PUBLISHED_META_NAMES += (
    "citation_publication_date",
    "citation_date",
    "parsely-pub-date",
    "sailthru.date",
    "og:published_time",
)
PUBLISHED_META_NAMES += (
    "og:article:published_time",
    "citation_online_date",
    "dcterms.date",
    "dcterms.issued",
    "dc.date.created",
)
PUBLISHED_META_NAMES += (
    "publish-date",
    "publish_date",
    "published-date",
    "publication_date",
    "prism.publicationdate",
    "date-pub",
)
AUTHOR_LABELS = frozenset(  # in Twitter cards
    (
        "written by", "author", "by", "verfasst von", "geschrieben von", "autor", "écrit par", "auteur", "escrito por",
        "scritto da", "autore", "geschreven door", "skriven av", "skrevet av", "автор", "作者", "著者",
    )
)  # fmt: skip
AUTHOR_LABEL_PATTERN = re.compile(r"\A(?:(?:written |posted )?by|author:) +", re.IGNORECASE)
AUTHOR_BIT = 1 << CATEGORY["author"]
UNDATED_KINDS = frozenset({"listing", "collection", "product", "service"})  # their dates belong to what they list
ADDRESS_DATE_PATTERN = re.compile(
    r"/((?:19|20)\d\d)/(?:[A-Za-z][\w.-]*/)?(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(?:/|-|\Z)"
    r"|[/_-]((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?:[/_.-]|\Z)"
)
MAX_AUTHOR_CHARS = 60
TRAILING_COMMA_PATTERN = re.compile(r",\s*([}\]])")  # written by many systems, rejected by parsers
SCHEMA_PREFIX_PATTERN = re.compile(r"\Ahttps?://schema\.org/(?=[A-Z]\w*\Z)")
SCRIPT_WRAPPER_PATTERN = re.compile(
    r"\A\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[(?:\s*\*/)?)|(?:-->|(?://|/\*)?\s*\]\]>(?:\s*\*/)?)\s*\Z"
)
H1_TAG_NUMBER, H2_TAG_NUMBER = TAG_NUMBERS["h1"], TAG_NUMBERS["h2"]
WORK_TYPES = frozenset(  # schema.org types that describe the page itself
    "Article NewsArticle BlogPosting Question Report ScholarlyArticle TechArticle WebPage Product Recipe Event Book "  # noqa: SIM905
    "Movie DiscussionForumPosting QAPage FAQPage VideoObject SocialMediaPosting LiveBlogPosting AnalysisNewsArticle "
    "Course JobPosting Review OpinionNewsArticle ReportageNewsArticle CreativeWork Dataset SoftwareApplication".split()
)


@dataclass(slots=True)
class PageFacts:
    """The declared facts of a page.

    Attributes:
        title_tag: Text of the title element.
        headline: The page's headline, from its headings, or "".
        book_title_blocks: The blocks above a chapter's headline that name the book.
        language: A BCP 47 tag.
        canonical: Canonical address.
        kind: Kind of the page, if known.
        site_names: Names of the site.
        published_times: Times in elements marked as the time of publication.
        nearby_times: Times in elements around the headline.
        nearby_dates: Dates in the text lines around the headline.
        address: Canonical address, or the page's own.
        first_post: Author and date of a discussion's first post; either may be "".
        marked_authors: Possible names in elements marked as naming an author.
        headline_author: Name in a line next to the headline, or "".
        meta_values: First content of each meta name.
        citation_authors: Names in meta elements with one author each.
        json_ld_objects: JSON-LD objects in order.
        scripts: Number of scripts that run.
    """

    title_tag: str = ""
    headline: str = ""
    book_title_blocks: list[int] = field(default_factory=list)
    language: str = ""
    canonical: str = ""
    kind: str = ""
    site_names: SiteNames = field(default_factory=SiteNames)
    published_times: list[str] = field(default_factory=list)
    nearby_times: list[str] = field(default_factory=list)
    nearby_dates: list[str] = field(default_factory=list)
    address: str = ""
    first_post: tuple[str, str] = ("", "")
    marked_authors: list[str] = field(default_factory=list)
    headline_author: str = ""
    meta_values: dict[str, str] = field(default_factory=dict)
    citation_authors: list[str] = field(default_factory=list)
    json_ld_objects: list[dict[str, Any]] = field(default_factory=list)
    scripts: int = 0

    def add_meta_element(self, attributes: Attributes) -> None:
        """Add what a meta element declares."""
        max_metas, max_citation_authors = 500, 10
        name = (
            attributes.get("property")
            or attributes.get("name")
            or attributes.get("itemprop")
            or attributes.get("http-equiv")
            or ""
        )
        if name == "citation_author" and attributes["content"] and len(self.citation_authors) < max_citation_authors:
            family, _, first = to_single_line(attributes["content"], MAX_AUTHOR_CHARS).partition(", ")
            self.citation_authors.append(f"{first} {family}".strip())
        if name and attributes["content"] and len(self.meta_values) < max_metas:
            self.meta_values.setdefault(name.strip().lower()[:100], attributes["content"][:5_000])

    def find_title(self) -> str:
        """Return the headline, or the declared title without the site's name."""
        title = choose_title(self.list_declared_titles(), self.headline, self.site_names)
        return title or self._find_work_property("name")

    def list_declared_titles(self) -> list[str]:
        """Return the declared titles, the most trusted first."""
        meta_title = self._find_meta_value(("og:title", "twitter:title", "dc.title"))
        return list(filter(None, (meta_title, self.title_tag, self._find_work_property("headline"))))

    def find_description(self) -> str:
        """Return the page's own summary."""
        description_metas = ("description", "og:description", "twitter:description", "dc.description")
        return self._find_meta_value(description_metas) or self._find_work_property("description")

    def find_published_date(self) -> str:
        """Return the date of publication in ISO 8601, or "".

        It is the declared one, else that of the lines around the headline.

        Dates next to the headline of a list or a product belong to other things.
        """
        declared = [
            self._find_work_property("datePublished", "dateCreated"),
            *(self.meta_values.get(name, "") for name in PUBLISHED_META_NAMES),
            *self.published_times,
        ]
        date = next(filter(None, map(parse_declared_date, declared)), "")
        if date or self.kind in UNDATED_KINDS:
            return date
        nearby = (*self.nearby_times, self.first_post[1], _parse_address_date(self.address), *self.nearby_dates)
        return next(filter(None, map(parse_declared_date, nearby)), "")

    def find_modified_date(self) -> str:
        """Return the declared date of the last change in ISO 8601, or ""."""
        declared = (self._find_work_property("dateModified"), self.meta_values.get("article:modified_time", ""))
        return next(filter(None, map(parse_declared_date, declared)), "")

    def find_author(self) -> str:
        """Return the authors' names joined by commas, else the site's name.

        Addresses and placeholders are not names. An account is a name unless it is the site's. Products and lists have
        no authors but their site, which is not worth returning.
        """
        author_metas = (
            "author",
            "article:author",
            "dc.creator",
            "citation_author",
            "parsely-author",
            "sailthru.author",
        )
        account, site_account = self._find_meta_value(("twitter:creator",)), self._find_meta_value(("twitter:site",))
        if not site_account or site_account.lower() == account.lower() or not is_real_author(account):
            account = ""
        labelled = [  # lines of a Twitter card
            self._find_meta_value((f"twitter:data{line}",))
            for line in (1, 2)
            if self._find_meta_value((f"twitter:label{line}",)).lower() in AUTHOR_LABELS
        ]
        declared = [
            ", ".join(self.citation_authors) or self._find_meta_value(author_metas),
            self._find_work_property("author", "creator"),
            *labelled[:1],
            self.first_post[0],
            *self.marked_authors,
        ]
        names = [AUTHOR_LABEL_PATTERN.sub("", name) for name in declared if not ADDRESS_PATTERN.search(name)]
        names = [name for name in names if is_real_author(name)]
        persons = (name for name in names if not self.site_names.is_site_name(name))
        if author := next(persons, "") or self.headline_author:
            return author
        return "" if self.kind in UNDATED_KINDS else next(iter(names), "") or account

    def find_site_name(self) -> str:
        """Return the name of the publication."""
        return (
            self._find_meta_value(("og:site_name", "application-name", "dc.publisher"))
            or self._find_work_property("publisher")
            or next(iter(self.list_names_of_types(("WebSite",))), "")
        )

    def set_first_post(self, author: str, date: str) -> None:
        """Set author and date of a discussion's first post, unless the headline has another date.

        In that case the post is an answer, and so are the others marked that way.
        """
        if self.nearby_times and date and self.nearby_times[0][:10] != date[:10]:
            self.marked_authors = []
        else:
            self.first_post = author, date

    def list_names_of_types(self, kinds: tuple[str, ...]) -> list[str]:
        """Return the names of the JSON-LD objects of these types."""
        items = (item for item in self.json_ld_objects if not set(kinds).isdisjoint(list_texts(item.get("@type"))))
        return [to_single_line(name) for item in items for name in list_texts(item.get("name"))]

    def read_article_body(self) -> str:
        """Return the article's text in the JSON-LD, or ""."""
        bodies = (str(item["articleBody"]) for item in self.json_ld_objects if item.get("articleBody"))
        return unescape(next(bodies, ""))

    def list_schema_types(self) -> list[str]:
        """Return the distinct types of the JSON-LD objects."""
        types = (name for item in self.json_ld_objects for name in list_texts(item.get("@type")))
        return list(dict.fromkeys(types))[:20]

    def _find_meta_value(self, names: tuple[str, ...]) -> str:
        values = (self.meta_values.get(name, "") for name in names)
        return next((to_single_line(value) for value in values if value.strip()), "")

    def _find_work_property(self, *names: str) -> str:
        """Return the first of these properties in a JSON-LD object that describes a work, or ""."""
        for item in self.json_ld_objects:
            if WORK_TYPES.isdisjoint(list_texts(item.get("@type"))):
                continue
            for name in names:
                if texts := list_texts(self._resolve_reference(item.get(name))):
                    return to_single_line(", ".join(dict.fromkeys(texts[:5])))
        return ""

    def _resolve_reference(self, value: Any) -> Any:
        """Return a value, or the object of the page that it refers to."""
        if isinstance(value, list):
            return [self._resolve_reference(member) for member in value[:5] if not isinstance(member, list)]
        if not isinstance(value, dict) or value.keys() - {"@id", "@type"}:
            return value
        name = value.get("@id")
        targets = (item for item in self.json_ld_objects if name and item.get("@id") == name and item is not value)
        return next(targets, value)


def read_facts(
    tree: Any, page: PageBlocks, base: str, head: HeadElements, json_ld_objects: list[dict[str, Any]], *, kind: str
) -> PageFacts:
    """Read the facts of a parsed page.

    Args:
        tree: The parsed page.
        page: Its blocks.
        base: Address that relative addresses start from.
        head: Its metadata elements.
        json_ld_objects: Its JSON-LD.
        kind: Its kind, or "" if unknown.
    """
    max_times = 20
    max_author_nodes = 5
    attributes = tree.root.attributes if tree.root is not None else {}
    language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip()
    facts = PageFacts(
        language=language.replace("_", "-") if LANGUAGE_TAG_PATTERN.fullmatch(language) else "",
        title_tag=to_single_line(head.title[:2_000]),
        scripts=sum("json" not in script_type for script_type, _ in head.scripts),
        kind=kind,
        json_ld_objects=json_ld_objects,
    )
    for attributes in head.metas:
        facts.add_meta_element(attributes)
    facts.canonical = next(filter(None, (resolve_url(address, base) for address in head.canonical)), "")
    facts.address = facts.canonical or base
    publishers = facts.list_names_of_types(("WebSite", "Organization", "NewsMediaOrganization"))
    facts.site_names = build_site_names((facts.find_site_name(), *publishers), facts.address)
    facts.published_times = [attributes.get("datetime") or "" for attributes in head.published_times[:max_times]]
    for node in head.author_nodes:
        if len(facts.marked_authors) < max_author_nodes and (name := _read_author_name(node)):
            facts.marked_authors.append(name)
    facts.language = facts.language or to_single_line(facts.meta_values.get("content-language"), 20)
    _read_lines_around_headline(facts, page, _locate_headline(facts, page))
    return facts


def _locate_headline(facts: PageFacts, page: PageBlocks) -> int:
    """Set the headline, and return its block or that of the declared title, or -1."""
    titles = facts.list_declared_titles()
    blocks, headings = _list_headings(page, H1_TAG_NUMBER)
    sub_blocks, subheadings = _list_headings(page, H2_TAG_NUMBER)
    ordered = sorted(zip([*blocks, *sub_blocks], [*headings, *subheadings], strict=True))
    if (chapter := find_chapter_heading(titles, [text for _, text in ordered])) >= 0:
        folded_titles = [title.casefold() for title in titles]
        facts.headline = ordered[chapter][1]
        facts.book_title_blocks = [
            block
            for block, text in ordered[:chapter]
            if any(title.endswith(text.casefold()) for title in folded_titles)
        ]
        return ordered[chapter][0]
    number = find_headline(titles, headings, facts.site_names)
    if number >= 0:
        facts.headline = headings[number]
        return blocks[number]
    title = choose_title(titles, "", facts.site_names)
    if title in page.texts:
        return page.texts.index(title)
    block = find_title_line(titles, page.texts)
    facts.headline = to_single_line(page.texts[block]) if block >= 0 else ""
    return block


def _list_headings(page: PageBlocks, level: int) -> tuple[list[int], list[str]]:
    """Return the first headings of a level, as block numbers and texts."""
    max_headings = 8
    elements = [element for element in page.headings if page.elements[element][1] == level][:max_headings]
    blocks = [page.elements[element][5] for element in elements if page.last[element] > page.elements[element][5]]
    return blocks, [to_single_line(page.texts[block][:500]) for block in blocks]


def _read_lines_around_headline(facts: PageFacts, page: PageBlocks, headline: int) -> None:
    """Read dates and author from the lines below and above the headline."""
    max_dates = 2  # published and changed; more of them belong to entries of a list
    # Wider and narrower ranges did worse on the evaluation corpus.
    date_blocks_above, date_blocks_below = 4, 8
    byline_blocks_above, byline_blocks_below = 3, 6
    if headline < 0:
        return
    count = len(page.texts)
    blocks = [
        *range(headline + 1, min(headline + date_blocks_below + 1, count)),
        *range(headline - 1, max(headline - date_blocks_above, 0) - 1, -1),
    ]
    times = [
        page.times[block]
        for block in (headline, *blocks)
        if block in page.times and not is_other_event(page.texts[block])
    ]
    facts.nearby_times = times if len(times) <= max_dates else []
    dates = [day for block in blocks for day in find_line_dates(page.texts[block], facts.language)]
    facts.nearby_dates = dates if len(set(dates)) <= max_dates else []
    if facts.kind in UNDATED_KINDS:
        return
    lines = []
    for block in (
        *range(headline + 1, min(headline + byline_blocks_below + 1, count)),
        *range(max(headline - byline_blocks_above, 0), headline),
    ):
        row = page.rows[block]
        is_about_author = bool((row[7] | page.elements[row[0]][3]) & AUTHOR_BIT)
        lines.append((page.texts[block], page.first_link_words.get(block, ""), is_about_author))
    facts.headline_author = find_byline(lines)


def _parse_address_date(address: str) -> str:
    """Return the date in the path of an address, or ""."""
    try:
        match = ADDRESS_DATE_PATTERN.search(urlsplit(address).path)
    except ValueError:
        return ""
    return "-".join(part.rjust(2, "0") for part in match.groups() if part) if match else ""


def _read_author_name(node: Any) -> str:
    """Return an element's name of an author, else ""."""
    inner = node.css_first('[itemprop~="name" i]')
    text = to_single_line((inner or node).text(separator=" ")[:500])
    is_name = 2 < len(text) <= MAX_AUTHOR_CHARS and not any(map(str.isdigit, text)) and " : " not in text
    return text if is_name else ""


def read_json_ld_objects(head: HeadElements) -> list[dict[str, Any]]:
    """Return the objects of all JSON-LD scripts of a page, in order."""
    max_objects = 2_000
    objects = list[dict[str, Any]]()
    for script_type, node in head.scripts:
        if "ld+json" in script_type:
            objects += parse_json_ld(node.text() or "", max_objects - len(objects))
    return objects


def parse_json_ld(script: str, limit: int) -> list[dict[str, Any]]:
    """Return the objects of a JSON-LD script.

    Those of its graph are included, but not deeper ones.
    """
    max_script_chars = 500_000
    if len(script) > max_script_chars:
        return []
    source = script.strip()
    source = source if source[:1] in "{[" and source[-1:] in "}]" else SCRIPT_WRAPPER_PATTERN.sub("", source)
    data = _parse_json(source) or _parse_json(TRAILING_COMMA_PATTERN.sub(r"\1", source))
    objects, pending = [], [data]
    while pending and len(objects) < limit:
        value = pending.pop(0)
        if isinstance(value, list):
            pending = value[:limit] + pending
        elif isinstance(value, dict):
            objects.append(value)
            pending = list(filter(None, (value.get("@graph"), value.get("mainEntity")))) + pending
    return objects


def _parse_json(source: str) -> Any:
    try:
        return json.loads(source, strict=False)
    except (ValueError, RecursionError):
        return None


def list_texts(value: Any) -> list[str]:
    """Return the texts of a JSON-LD value: itself, its name, or those of its members, without the schema's address."""
    if isinstance(value, str):
        value = unescape(value) if "&" in value else value
        return [SCHEMA_PREFIX_PATTERN.sub("", value)] if value else []
    if isinstance(value, dict):
        return list_texts(value.get("name")) if not isinstance(value.get("name"), dict) else []
    if isinstance(value, list):
        return [text for member in value[:20] if not isinstance(member, list) for text in list_texts(member)]
    return []
