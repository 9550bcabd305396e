"""What a page says about itself: Open Graph, Dublin Core and JSON-LD, its title, and the lines around its headline.

Dates and names are looked for only there: searching the whole text finds a date on nine pages of ten that have none.
"""

import json
import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from outrider.pages.address import absolute
from outrider.pages.content.metadata.bylines import byline, is_somebody
from outrider.pages.content.metadata.dates import dates_in, declared_date, is_other
from outrider.pages.content.metadata.titles import Site, chapter, headline, line_of_title, site_of, title_of
from outrider.pages.content.walking.blocks import NUMBER, Blocks, Given
from outrider.pages.content.walking.told import Told, told_by
from outrider.pages.content.walking.words import NUMBER as CATEGORY
from outrider.pages.document import line_of

ADDRESS = re.compile(r"://|\S@\S+\.\S")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
TITLES = ("og:title", "twitter:title", "dc.title")
DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
DATES = ("article:published_time", "datepublished", "dc.date", "dc.date.issued", "dcterms.created", "date", "pubdate")
DATES += ("citation_publication_date", "citation_date", "parsely-pub-date", "sailthru.date", "og:published_time")
DATES += ("og:article:published_time", "citation_online_date", "dcterms.date", "dcterms.issued", "dc.date.created")
DATES += ("publish-date", "publish_date", "published-date", "publication_date", "prism.publicationdate", "date-pub")
AUTHORS = ("author", "article:author", "dc.creator", "citation_author", "parsely-author", "sailthru.author")
LABELS = frozenset(  # of a line of a card that names the author
    (
        "written by", "author", "by", "verfasst von", "geschrieben von", "autor", "écrit par", "auteur", "escrito por",
        "scritto da", "autore", "geschreven door", "skriven av", "skrevet av", "автор", "作者", "著者",
    )
)  # fmt: skip
SITES = ("og:site_name", "application-name", "dc.publisher")
LABEL = re.compile(r"\A(?:(?:written |posted )?by|author:) +", re.IGNORECASE)
JSON_LIMIT = 500_000  # characters of one JSON-LD script
ITEMS = 2_000  # JSON-LD values that are looked at
METAS = 500
TIMES = 20
# Blocks above and below the headline in which a date is that of the page, and a name its author's: wider and narrower
# did worse on 1,497 pages.
ABOVE, BELOW = 4, 9
OVER, UNDER = 3, 7
HEADLINES = 8  # headings of the first level that may be the page's headline
AUTHOR = 1 << CATEGORY["author"]
TIMELESS = frozenset({"listing", "collection", "product", "service"})  # kinds whose dates are those of what they list
DAY = re.compile(  # in an address
    r"/((?:19|20)\d\d)/(?:[A-Za-z][\w.-]*/)?(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(?:/|-|\Z)"
    r"|[/_-]((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?:[/_.-]|\Z)"
)
FEW = 2  # times there, published and changed; where there are more, each is that of an entry of a list
BYLINES, WRITERS = 5, 10
BYLINE = 60  # characters of a name in the page itself
TRAILING = re.compile(r",\s*([}\]])")  # a comma that many systems write and no parser reads
TYPED = re.compile(r"\Ahttps?://schema\.org/(?=[A-Z]\w*\Z)")
WRAPPED = re.compile(r"\A\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[(?:\s*\*/)?)|(?:-->|(?://|/\*)?\s*\]\]>(?:\s*\*/)?)\s*\Z")
HEADLINE, CHAPTER = NUMBER["h1"], NUMBER["h2"]
PUBLISHERS = ("WebSite", "Organization", "NewsMediaOrganization")
WORKS = frozenset(  # schema.org types whose properties are those of the page
    "Article NewsArticle BlogPosting Question Report ScholarlyArticle TechArticle WebPage Product Recipe Event Book "  # noqa: SIM905
    "Movie DiscussionForumPosting QAPage FAQPage VideoObject SocialMediaPosting LiveBlogPosting AnalysisNewsArticle "
    "Course JobPosting Review OpinionNewsArticle ReportageNewsArticle CreativeWork Dataset SoftwareApplication".split()
)


@dataclass(slots=True)
class Facts:
    """What a page declares.

    Attributes:
        title_tag: What its title element holds.
        heading: Its headline, of the headings of the first level; may be empty.
        book: The blocks above a chapter's headline that name the book.
        kind: What it is to its readers, as far as it is known.
        own: What its site is called.
        language: A BCP 47 tag.
        canonical: Its own address.
        times: Of its elements that are marked as the time of publication.
        near: Of the elements around its headline that tell a time.
        lines: Dates that the lines around its headline tell.
        address: Where it is.
        opener: Who wrote the first post of a discussion, and when; either may be empty.
        bylines: The texts of its elements that are marked as naming an author, as far as they can be names.
        byline: The name that a line beside the headline gives; may be empty.
        metas: The first content of each meta name.
        writers: The names of the meta elements that name one author of a paper each.
        linked: Its JSON-LD objects in order.
        scripts: How many scripts it has.
    """

    title_tag: str = ""
    heading: str = ""
    book: list[int] = field(default_factory=list)
    language: str = ""
    canonical: str = ""
    kind: str = ""
    own: Site = field(default_factory=Site)
    times: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    address: str = ""
    opener: tuple[str, str] = ("", "")
    bylines: list[str] = field(default_factory=list)
    byline: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    writers: list[str] = field(default_factory=list)
    linked: list[dict[str, Any]] = field(default_factory=list)
    scripts: int = 0

    def title(self) -> str:
        """The headline, or what is declared without the name of the site."""
        return title_of(self.titles(), self.heading, self.own) or self._item("name")

    def titles(self) -> list[str]:
        """What the page declares as its title, the most trusted first."""
        return [each for each in (self._meta(TITLES), self.title_tag, self._item("headline")) if each]

    def description(self) -> str:
        """The page's own summary."""
        return self._meta(DESCRIPTIONS) or self._item("description")

    def published(self) -> str:
        """ISO 8601, as declared or as the lines around the headline tell; empty if neither does.

        What stands beside the headline of a list or of a product is no date of the page.
        """
        declared = [
            self._item("datePublished", "dateCreated"),
            *(self.metas.get(name, "") for name in DATES),
            *self.times,
        ]
        found = next(filter(None, map(declared_date, declared)), "")
        if found or self.kind in TIMELESS:
            return found
        beside = (*self.near, self.opener[1], _dated(self.address), *self.lines)
        return next(filter(None, map(declared_date, beside)), "")

    def modified(self) -> str:
        """ISO 8601, as declared; empty if it is not."""
        declared = (self._item("dateModified"), self.metas.get("article:modified_time", ""))
        return next(filter(None, map(declared_date, declared)), "")

    def author(self) -> str:
        """The names of the authors, joined by commas; the site's own name only where nobody is named.

        Addresses are no names, nor is what systems put where nobody is named; an account is one unless it is the
        site's. A product or a list is nobody's work but its site's, which goes without saying.
        """
        creator, own = self._meta(("twitter:creator",)), self._meta(("twitter:site",))
        account = creator if own and own.lower() != creator.lower() else ""
        declared = [
            ", ".join(self.writers) or self._meta(AUTHORS),
            self._item("author", "creator"),
            self._labelled(),
            self.opener[0],
            *self.bylines,
        ]
        named = [_unlabelled(each) for each in declared if not ADDRESS.search(each)]
        named = [each for each in named if is_somebody(each)]
        persons = (each for each in named if not self.own.is_named(each))
        if found := next(persons, "") or self.byline:
            return found
        return "" if self.kind in TIMELESS else next(iter(named), "") or (account if is_somebody(account) else "")

    def _labelled(self) -> str:
        """The author's name of a card whose lines have labels."""
        pairs = ((self._meta((f"twitter:label{line}",)), self._meta((f"twitter:data{line}",))) for line in (1, 2))
        return next((name for label, name in pairs if label.lower() in LABELS), "")

    def site(self) -> str:
        """The publication's name."""
        return self._meta(SITES) or self._item("publisher") or next(iter(self.called(("WebSite",))), "")

    def opens(self, author: str, date: str) -> None:
        """Takes in who wrote the first post of a discussion, unless another time stands beside the headline.

        Then it is an answer, as are the others that are marked so.
        """
        if self.near and date and self.near[0][:10] != date[:10]:
            self.bylines = []
        else:
            self.opener = author, date

    def called(self, kinds: tuple[str, ...]) -> list[str]:
        """The names of the page's JSON-LD objects of these types."""
        found = (each for each in self.linked if not set(kinds).isdisjoint(words_of(each.get("@type"))))
        return [line_of(name) for each in found for name in words_of(each.get("name"))]

    def body(self) -> str:
        """The article's text as its JSON-LD gives it."""
        return unescape(next((str(each["articleBody"]) for each in self.linked if each.get("articleBody")), ""))

    def types(self) -> list[str]:
        """The types of the page's JSON-LD objects, each once."""
        return list(dict.fromkeys(kind for each in self.linked for kind in words_of(each.get("@type"))))[:20]

    def _meta(self, names: tuple[str, ...]) -> str:
        return next((line_of(self.metas[name]) for name in names if self.metas.get(name, "").strip()), "")

    def _item(self, *names: str) -> str:
        """The first of these properties in any JSON-LD object that describes a work."""
        for each in self.linked:
            if WORKS.isdisjoint(words_of(each.get("@type"))):
                continue
            for name in names:
                if found := words_of(self._meant(each.get(name))):
                    return line_of(", ".join(dict.fromkeys(found[:5])))
        return ""

    def _meant(self, value: Any) -> Any:
        """A value, or the object of the page that it only names."""
        if isinstance(value, list):
            return [self._meant(each) for each in value[:5] if not isinstance(each, list)]
        if not isinstance(value, dict) or value.keys() - {"@id", "@type"}:
            return value
        name = value.get("@id")
        return next((each for each in self.linked if name and each.get("@id") == name and each is not value), value)


def read_facts(tree: Any, page: Blocks, base: str, told: Told | None = None, kind: str = "") -> Facts:
    """The facts of a parsed page whose blocks are known; relative addresses start from `base`."""
    told = told or told_by(tree)
    facts = Facts(language=_language(tree), title_tag=line_of(told.title[:2_000]), scripts=len(told.scripts), kind=kind)
    for given in told.metas:
        _declare(facts, given)
    for form, node in told.scripts:
        if "ld+json" in form:
            facts.linked += objects(node.text() or "", ITEMS - len(facts.linked))
    facts.canonical = next(filter(None, (absolute(address, base) for address in told.canonical)), "")
    facts.address = facts.canonical or base
    facts.own = site_of((facts.site(), *facts.called(PUBLISHERS)), facts.address)
    facts.times = [given.get("datetime") or "" for given in told.times[:TIMES]]
    for node in told.bylines:
        if len(facts.bylines) < BYLINES:
            facts.bylines += _names(node)
    facts.language = facts.language or line_of(facts.metas.get("content-language"), 20)
    _around(facts, page, _headline(facts, page))
    return facts


def _headline(facts: Facts, page: Blocks) -> int:
    """The block of the headline, or of what is declared as the title; -1 if neither is there."""
    titles = facts.titles()
    found, headings = _headings(page, HEADLINE)
    below, chapters = _headings(page, CHAPTER)
    ordered = sorted(zip([*found, *below], [*headings, *chapters], strict=True))
    if (at := chapter(titles, [text for _, text in ordered])) >= 0:
        facts.heading = ordered[at][1]
        facts.book = [block for block, text in ordered[:at] if any(_ends_with(title, text) for title in titles)]
        return ordered[at][0]
    chosen = headline(titles, headings, facts.own)
    if chosen >= 0:
        facts.heading = headings[chosen]
        return found[chosen]
    named = title_of(titles, "", facts.own)
    if named in page.texts:
        return page.texts.index(named)
    shown = line_of_title(titles, page.texts)
    facts.heading = line_of(page.texts[shown]) if shown >= 0 else ""
    return shown


def _ends_with(title: str, text: str) -> bool:
    return title.casefold().endswith(text.casefold())


def _headings(page: Blocks, level: int) -> tuple[list[int], list[str]]:
    """The first headings of a level, as numbers of blocks and as texts."""
    marked = [at for at in page.headings if page.elements[at][1] == level][:HEADLINES]
    found = [page.elements[at][5] for at in marked if page.last[at] > page.elements[at][5]]
    return found, [line_of(page.texts[at][:500]) for at in found]


def _around(facts: Facts, page: Blocks, at: int) -> None:
    """Takes in what the lines around the headline tell: those below it first, then those above."""
    if at < 0:
        return
    count = len(page.texts)
    places = [*range(at + 1, min(at + BELOW, count)), *range(at - 1, max(at - ABOVE, 0) - 1, -1)]
    near = [page.times[place] for place in (at, *places) if place in page.times and not is_other(page.texts[place])]
    facts.near = near if len(near) <= FEW else []
    lines = [day for place in places for day in dates_in(page.texts[place], facts.language)]
    facts.lines = lines if len(set(lines)) <= FEW else []
    if facts.kind not in TIMELESS:
        names = [*range(at + 1, min(at + UNDER, count)), *range(max(at - OVER, 0), at)]
        facts.byline = byline(
            (page.texts[place], page.named.get(place, ""), _names_author(page, place)) for place in names
        )


def _names_author(page: Blocks, at: int) -> bool:
    """Whether a block, or an element that it stands in, is marked as being about an author."""
    row = page.rows[at]
    return bool((row[7] | page.elements[row[0]][3]) & AUTHOR)


def _dated(address: str) -> str:
    """The day in the path of an address; empty if there is none."""
    try:
        found = DAY.search(urlsplit(address).path)
    except ValueError:
        return ""
    return "-".join(part.rjust(2, "0") for part in found.groups() if part) if found else ""


def _unlabelled(name: str) -> str:
    """A name without the word that says that it is the author's."""
    return LABEL.sub("", name)


def _language(tree: Any) -> str:
    given = tree.root.attributes if tree.root is not None else {}
    found = LANGUAGE.fullmatch((given.get("lang") or given.get("xml:lang") or "").strip())
    return found[0].replace("_", "-") if found else ""


def _declare(facts: Facts, given: Given) -> None:
    """Takes in a meta element."""
    name = given.get("property") or given.get("name") or given.get("itemprop") or given.get("http-equiv") or ""
    if name == "citation_author" and given["content"] and len(facts.writers) < WRITERS:
        family, _, first = line_of(given["content"], BYLINE).partition(", ")
        facts.writers.append(f"{first} {family}".strip())
    if name and given["content"] and len(facts.metas) < METAS:
        facts.metas.setdefault(name.strip().lower()[:100], given["content"][:5_000])


def _names(node: Any) -> list[str]:
    """The text of an element if it can be a name, or that of the name in it."""
    inner = node.css_first('[itemprop~="name" i]')
    text = line_of((inner or node).text(separator=" ")[:500])
    return [text] if 2 < len(text) <= BYLINE and not any(map(str.isdigit, text)) and " : " not in text else []


def objects(script: str, limit: int) -> list[dict[str, Any]]:
    """The objects of a JSON-LD script, those of its graph included, without descending further."""
    if len(script) > JSON_LIMIT:
        return []
    bare = script.strip()
    bare = bare if bare[:1] in "{[" and bare[-1:] in "}]" else WRAPPED.sub("", bare)
    data = _read(bare) or _read(TRAILING.sub(r"\1", bare))
    found, waiting = [], [data]
    while waiting and len(found) < limit:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting = value[:limit] + waiting
        elif isinstance(value, dict):
            found.append(value)
            waiting = [each for each in (value.get("@graph"), value.get("mainEntity")) if each] + waiting
    return found


def _read(source: str) -> Any:
    """What a source in JSON says; nothing if it cannot be read."""
    try:
        return json.loads(source, strict=False)
    except (ValueError, RecursionError):
        return None


def words_of(value: Any) -> list[str]:
    """The texts of a JSON-LD value: itself, its name, or those of its members; names of types without their place."""
    if isinstance(value, str):
        value = unescape(value) if "&" in value else value
        return [TYPED.sub("", value)] if value else []
    if isinstance(value, dict):
        return words_of(value.get("name")) if not isinstance(value.get("name"), dict) else []
    if isinstance(value, list):
        return [word for each in value[:20] if not isinstance(each, list) for word in words_of(each)]
    return []
