"""What a page says about itself: Open Graph, Dublin Core and JSON-LD, its title, and the lines around its headline.

Dates and names are looked for only there: searching the whole text finds a date on nine pages of ten that have none.
"""

import json
import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from outrider.pages.document import to_single_line
from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS as CATEGORY
from outrider.pages.extraction.blocks.head_elements import HeadElements, collect_head_elements
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
AUTHOR_LABELS = frozenset(  # of a line of a card that names the author
    (
        "written by", "author", "by", "verfasst von", "geschrieben von", "autor", "écrit par", "auteur", "escrito por",
        "scritto da", "autore", "geschreven door", "skriven av", "skrevet av", "автор", "作者", "著者",
    )
)  # fmt: skip
AUTHOR_LABEL_PATTERN = re.compile(r"\A(?:(?:written |posted )?by|author:) +", re.IGNORECASE)
# Blocks above and below the headline in which a date is that of the page, and a name its author's: wider and narrower
# did worse on 1,497 pages.
DATE_BLOCKS_ABOVE, DATE_BLOCKS_BELOW = 4, 9
BYLINE_BLOCKS_ABOVE, BYLINE_BLOCKS_BELOW = 3, 7
AUTHOR_BIT = 1 << CATEGORY["author"]
UNDATED_KINDS = frozenset(
    {"listing", "collection", "product", "service"}
)  # kinds whose dates are those of what they list
ADDRESS_DATE_PATTERN = re.compile(  # in an address
    r"/((?:19|20)\d\d)/(?:[A-Za-z][\w.-]*/)?(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(?:/|-|\Z)"
    r"|[/_-]((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?:[/_.-]|\Z)"
)
MAX_AUTHOR_NODES, MAX_CITATION_AUTHORS = 5, 10
MAX_AUTHOR_CHARS = 60  # characters of a name in the page itself
TRAILING_COMMA_PATTERN = re.compile(r",\s*([}\]])")  # a comma that many systems write and no parser reads
SCHEMA_PREFIX_PATTERN = re.compile(r"\Ahttps?://schema\.org/(?=[A-Z]\w*\Z)")
SCRIPT_WRAPPER_PATTERN = re.compile(
    r"\A\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[(?:\s*\*/)?)|(?:-->|(?://|/\*)?\s*\]\]>(?:\s*\*/)?)\s*\Z"
)
H1_TAG_NUMBER, H2_TAG_NUMBER = TAG_NUMBERS["h1"], TAG_NUMBERS["h2"]
WORK_TYPES = frozenset(  # schema.org types whose properties are those of the page
    "Article NewsArticle BlogPosting Question Report ScholarlyArticle TechArticle WebPage Product Recipe Event Book "  # noqa: SIM905
    "Movie DiscussionForumPosting QAPage FAQPage VideoObject SocialMediaPosting LiveBlogPosting AnalysisNewsArticle "
    "Course JobPosting Review OpinionNewsArticle ReportageNewsArticle CreativeWork Dataset SoftwareApplication".split()
)


@dataclass(slots=True)
class PageFacts:
    """What a page declares.

    Attributes:
        title_tag: What its title element holds.
        headline: Its headline, of the headings of the first level; may be empty.
        book_title_blocks: The blocks above a chapter's headline that name the book.
        kind: What it is to its readers, as far as it is known.
        site_names: What its site is called.
        language: A BCP 47 tag.
        canonical: Its own address.
        published_times: Of its elements that are marked as the time of publication.
        nearby_times: Of the elements around its headline that tell a time.
        nearby_dates: Dates that the lines around its headline tell.
        address: Where it is.
        first_post: Who wrote the first post of a discussion, and when; either may be empty.
        marked_authors: The texts of its elements that are marked as naming an author, as far as they can be names.
        headline_author: The name that a line beside the headline gives; may be empty.
        meta_values: The first content of each meta name.
        citation_authors: The names of the meta elements that name one author of a paper each.
        json_ld_objects: Its JSON-LD objects in order.
        scripts: How many scripts it has.
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

    def find_title(self) -> str:
        """The headline, or what is declared without the name of the site."""
        return choose_title(self.list_declared_titles(), self.headline, self.site_names) or self._find_work_property(
            "name"
        )

    def list_declared_titles(self) -> list[str]:
        """What the page declares as its title, the most trusted first."""
        title_metas = ("og:title", "twitter:title", "dc.title")
        return [
            each
            for each in (self._find_meta_value(title_metas), self.title_tag, self._find_work_property("headline"))
            if each
        ]

    def find_description(self) -> str:
        """The page's own summary."""
        description_metas = ("description", "og:description", "twitter:description", "dc.description")
        return self._find_meta_value(description_metas) or self._find_work_property("description")

    def find_published_date(self) -> str:
        """ISO 8601, as declared or as the lines around the headline tell; empty if neither does.

        What stands beside the headline of a list or of a product is no date of the page.
        """
        declared = [
            self._find_work_property("datePublished", "dateCreated"),
            *(self.meta_values.get(name, "") for name in PUBLISHED_META_NAMES),
            *self.published_times,
        ]
        found = next(filter(None, map(parse_declared_date, declared)), "")
        if found or self.kind in UNDATED_KINDS:
            return found
        beside = (*self.nearby_times, self.first_post[1], _parse_address_date(self.address), *self.nearby_dates)
        return next(filter(None, map(parse_declared_date, beside)), "")

    def find_modified_date(self) -> str:
        """ISO 8601, as declared; empty if it is not."""
        declared = (self._find_work_property("dateModified"), self.meta_values.get("article:modified_time", ""))
        return next(filter(None, map(parse_declared_date, declared)), "")

    def find_author(self) -> str:
        """The names of the authors, joined by commas; the site's own name only where nobody is named.

        Addresses are no names, nor is what systems put where nobody is named; an account is one unless it is the
        site's. A product or a list is nobody's work but its site's, which goes without saying.
        """
        author_metas = (
            "author",
            "article:author",
            "dc.creator",
            "citation_author",
            "parsely-author",
            "sailthru.author",
        )
        creator, own = self._find_meta_value(("twitter:creator",)), self._find_meta_value(("twitter:site",))
        account = creator if own and own.lower() != creator.lower() else ""
        declared = [
            ", ".join(self.citation_authors) or self._find_meta_value(author_metas),
            self._find_work_property("author", "creator"),
            self._find_labelled_author(),
            self.first_post[0],
            *self.marked_authors,
        ]
        named = [_unlabelled(each) for each in declared if not ADDRESS_PATTERN.search(each)]
        named = [each for each in named if is_real_author(each)]
        persons = (each for each in named if not self.site_names.is_site_name(each))
        if found := next(persons, "") or self.headline_author:
            return found
        return (
            "" if self.kind in UNDATED_KINDS else next(iter(named), "") or (account if is_real_author(account) else "")
        )

    def _find_labelled_author(self) -> str:
        """The author's name of a card whose lines have labels."""
        pairs = (
            (self._find_meta_value((f"twitter:label{line}",)), self._find_meta_value((f"twitter:data{line}",)))
            for line in (1, 2)
        )
        return next((name for label, name in pairs if label.lower() in AUTHOR_LABELS), "")

    def find_site_name(self) -> str:
        """The publication's name."""
        site_metas = ("og:site_name", "application-name", "dc.publisher")
        return (
            self._find_meta_value(site_metas)
            or self._find_work_property("publisher")
            or next(iter(self.list_names_of_types(("WebSite",))), "")
        )

    def set_first_post(self, author: str, date: str) -> None:
        """Takes in who wrote the first post of a discussion, unless another time stands beside the headline.

        Then it is an answer, as are the others that are marked so.
        """
        if self.nearby_times and date and self.nearby_times[0][:10] != date[:10]:
            self.marked_authors = []
        else:
            self.first_post = author, date

    def list_names_of_types(self, kinds: tuple[str, ...]) -> list[str]:
        """The names of the page's JSON-LD objects of these types."""
        found = (each for each in self.json_ld_objects if not set(kinds).isdisjoint(list_texts(each.get("@type"))))
        return [to_single_line(name) for each in found for name in list_texts(each.get("name"))]

    def read_article_body(self) -> str:
        """The article's text as its JSON-LD gives it."""
        return unescape(
            next((str(each["articleBody"]) for each in self.json_ld_objects if each.get("articleBody")), "")
        )

    def list_schema_types(self) -> list[str]:
        """The types of the page's JSON-LD objects, each once."""
        return list(dict.fromkeys(kind for each in self.json_ld_objects for kind in list_texts(each.get("@type"))))[:20]

    def _find_meta_value(self, names: tuple[str, ...]) -> str:
        return next(
            (to_single_line(self.meta_values[name]) for name in names if self.meta_values.get(name, "").strip()), ""
        )

    def _find_work_property(self, *names: str) -> str:
        """The first of these properties in any JSON-LD object that describes a work."""
        for each in self.json_ld_objects:
            if WORK_TYPES.isdisjoint(list_texts(each.get("@type"))):
                continue
            for name in names:
                if found := list_texts(self._resolve_reference(each.get(name))):
                    return to_single_line(", ".join(dict.fromkeys(found[:5])))
        return ""

    def _resolve_reference(self, value: Any) -> Any:
        """A value, or the object of the page that it only names."""
        if isinstance(value, list):
            return [self._resolve_reference(each) for each in value[:5] if not isinstance(each, list)]
        if not isinstance(value, dict) or value.keys() - {"@id", "@type"}:
            return value
        name = value.get("@id")
        return next(
            (each for each in self.json_ld_objects if name and each.get("@id") == name and each is not value), value
        )


def read_facts(tree: Any, page: PageBlocks, base: str, told: HeadElements | None = None, kind: str = "") -> PageFacts:
    """The facts of a parsed page whose blocks are known; relative addresses start from `base`."""
    publisher_types = ("WebSite", "Organization", "NewsMediaOrganization")
    max_times = 20
    max_json_ld_objects = 2_000  # JSON-LD values that are looked at
    told = told or collect_head_elements(tree)
    facts = PageFacts(
        language=_read_language(tree),
        title_tag=to_single_line(told.title[:2_000]),
        scripts=len(told.scripts),
        kind=kind,
    )
    for attributes in told.metas:
        _add_meta_element(facts, attributes)
    for form, node in told.scripts:
        if "ld+json" in form:
            facts.json_ld_objects += parse_json_ld(node.text() or "", max_json_ld_objects - len(facts.json_ld_objects))
    facts.canonical = next(filter(None, (resolve_url(address, base) for address in told.canonical)), "")
    facts.address = facts.canonical or base
    facts.site_names = build_site_names(
        (facts.find_site_name(), *facts.list_names_of_types(publisher_types)), facts.address
    )
    facts.published_times = [attributes.get("datetime") or "" for attributes in told.published_times[:max_times]]
    for node in told.author_nodes:
        if len(facts.marked_authors) < MAX_AUTHOR_NODES:
            facts.marked_authors += _read_author_names(node)
    facts.language = facts.language or to_single_line(facts.meta_values.get("content-language"), 20)
    _read_lines_around_headline(facts, page, _locate_headline(facts, page))
    return facts


def _locate_headline(facts: PageFacts, page: PageBlocks) -> int:
    """The block of the headline, or of what is declared as the title; -1 if neither is there."""
    titles = facts.list_declared_titles()
    found, headings = _list_headings(page, H1_TAG_NUMBER)
    below, chapters = _list_headings(page, H2_TAG_NUMBER)
    ordered = sorted(zip([*found, *below], [*headings, *chapters], strict=True))
    if (at := find_chapter_heading(titles, [text for _, text in ordered])) >= 0:
        facts.headline = ordered[at][1]
        facts.book_title_blocks = [
            block for block, text in ordered[:at] if any(_ends_with(title, text) for title in titles)
        ]
        return ordered[at][0]
    chosen = find_headline(titles, headings, facts.site_names)
    if chosen >= 0:
        facts.headline = headings[chosen]
        return found[chosen]
    named = choose_title(titles, "", facts.site_names)
    if named in page.texts:
        return page.texts.index(named)
    shown = find_title_line(titles, page.texts)
    facts.headline = to_single_line(page.texts[shown]) if shown >= 0 else ""
    return shown


def _ends_with(title: str, text: str) -> bool:
    return title.casefold().endswith(text.casefold())


def _list_headings(page: PageBlocks, level: int) -> tuple[list[int], list[str]]:
    """The first headings of a level, as numbers of blocks and as texts."""
    max_headings = 8  # headings of the first level that may be the page's headline
    marked = [at for at in page.headings if page.elements[at][1] == level][:max_headings]
    found = [page.elements[at][5] for at in marked if page.last[at] > page.elements[at][5]]
    return found, [to_single_line(page.texts[at][:500]) for at in found]


def _read_lines_around_headline(facts: PageFacts, page: PageBlocks, at: int) -> None:
    """Takes in what the lines around the headline tell: those below it first, then those above."""
    max_dates = 2  # times there, published and changed; where there are more, each is that of an entry of a list
    if at < 0:
        return
    count = len(page.texts)
    places = [
        *range(at + 1, min(at + DATE_BLOCKS_BELOW, count)),
        *range(at - 1, max(at - DATE_BLOCKS_ABOVE, 0) - 1, -1),
    ]
    near = [
        page.times[place] for place in (at, *places) if place in page.times and not is_other_event(page.texts[place])
    ]
    facts.nearby_times = near if len(near) <= max_dates else []
    lines = [day for place in places for day in find_line_dates(page.texts[place], facts.language)]
    facts.nearby_dates = lines if len(set(lines)) <= max_dates else []
    if facts.kind not in UNDATED_KINDS:
        names = [*range(at + 1, min(at + BYLINE_BLOCKS_BELOW, count)), *range(max(at - BYLINE_BLOCKS_ABOVE, 0), at)]
        facts.headline_author = find_byline(
            (page.texts[place], page.first_link_words.get(place, ""), _names_author(page, place)) for place in names
        )


def _names_author(page: PageBlocks, at: int) -> bool:
    """Whether a block, or an element that it stands in, is marked as being about an author."""
    row = page.rows[at]
    return bool((row[7] | page.elements[row[0]][3]) & AUTHOR_BIT)


def _parse_address_date(address: str) -> str:
    """The day in the path of an address; empty if there is none."""
    try:
        found = ADDRESS_DATE_PATTERN.search(urlsplit(address).path)
    except ValueError:
        return ""
    return "-".join(part.rjust(2, "0") for part in found.groups() if part) if found else ""


def _unlabelled(name: str) -> str:
    """A name without the word that says that it is the author's."""
    return AUTHOR_LABEL_PATTERN.sub("", name)


def _read_language(tree: Any) -> str:
    attributes = tree.root.attributes if tree.root is not None else {}
    found = LANGUAGE_TAG_PATTERN.fullmatch((attributes.get("lang") or attributes.get("xml:lang") or "").strip())
    return found[0].replace("_", "-") if found else ""


def _add_meta_element(facts: PageFacts, attributes: Attributes) -> None:
    """Takes in a meta element."""
    max_metas = 500
    name = (
        attributes.get("property")
        or attributes.get("name")
        or attributes.get("itemprop")
        or attributes.get("http-equiv")
        or ""
    )
    if name == "citation_author" and attributes["content"] and len(facts.citation_authors) < MAX_CITATION_AUTHORS:
        family, _, first = to_single_line(attributes["content"], MAX_AUTHOR_CHARS).partition(", ")
        facts.citation_authors.append(f"{first} {family}".strip())
    if name and attributes["content"] and len(facts.meta_values) < max_metas:
        facts.meta_values.setdefault(name.strip().lower()[:100], attributes["content"][:5_000])


def _read_author_names(node: Any) -> list[str]:
    """The text of an element if it can be a name, or that of the name in it."""
    inner = node.css_first('[itemprop~="name" i]')
    text = to_single_line((inner or node).text(separator=" ")[:500])
    return [text] if 2 < len(text) <= MAX_AUTHOR_CHARS and not any(map(str.isdigit, text)) and " : " not in text else []


def parse_json_ld(script: str, limit: int) -> list[dict[str, Any]]:
    """The objects of a JSON-LD script, those of its graph included, without descending further."""
    max_script_chars = 500_000  # characters of one JSON-LD script
    if len(script) > max_script_chars:
        return []
    bare = script.strip()
    bare = bare if bare[:1] in "{[" and bare[-1:] in "}]" else SCRIPT_WRAPPER_PATTERN.sub("", bare)
    data = _parse_json(bare) or _parse_json(TRAILING_COMMA_PATTERN.sub(r"\1", bare))
    found, waiting = [], [data]
    while waiting and len(found) < limit:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting = value[:limit] + waiting
        elif isinstance(value, dict):
            found.append(value)
            waiting = [each for each in (value.get("@graph"), value.get("mainEntity")) if each] + waiting
    return found


def _parse_json(source: str) -> Any:
    """What a source in JSON says; nothing if it cannot be read."""
    try:
        return json.loads(source, strict=False)
    except (ValueError, RecursionError):
        return None


def list_texts(value: Any) -> list[str]:
    """The texts of a JSON-LD value: itself, its name, or those of its members; names of types without their place."""
    if isinstance(value, str):
        value = unescape(value) if "&" in value else value
        return [SCHEMA_PREFIX_PATTERN.sub("", value)] if value else []
    if isinstance(value, dict):
        return list_texts(value.get("name")) if not isinstance(value.get("name"), dict) else []
    if isinstance(value, list):
        return [word for each in value[:20] if not isinstance(each, list) for word in list_texts(each)]
    return []
