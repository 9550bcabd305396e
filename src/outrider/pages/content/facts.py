"""What a page says about itself: Open Graph, Dublin Core and JSON-LD, its title and first heading.

Measured against dates in other people's markings, only declared ones are worth having: searching
the text for dates finds one on nine pages of ten that have none.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.address import absolute
from outrider.pages.content.blocks import NUMBER, Blocks, Given
from outrider.pages.content.told import Told, told_by
from outrider.pages.document import line_of

DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?)?")
ADDRESS = re.compile(r"://|\S@\S+\.\S")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
TITLES = ("og:title", "twitter:title", "dc.title")
DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
DATES = ("article:published_time", "datepublished", "dc.date", "dc.date.issued", "dcterms.created", "date", "pubdate")
DATES += ("citation_publication_date", "citation_date", "parsely-pub-date", "sailthru.date", "og:published_time")
AUTHORS = ("author", "article:author", "dc.creator", "citation_author", "parsely-author")
SITES = ("og:site_name", "application-name", "dc.publisher")
JSON_LIMIT = 500_000  # characters of one JSON-LD script
ITEMS = 2_000  # JSON-LD values that are looked at
METAS = 500
TIMES = 20
# Blocks above and below the headline in which a time is that of the page: on 749 pages 18 right, 4 wrong, 3 of pages
# that have none.
ABOVE, BELOW = 4, 9
FEW = 2  # times there, published and changed; where there are more, each is that of an entry of a list
BYLINES = 5
BYLINE = 60  # characters of a name in the page itself
WRAPPED = re.compile(r"\A\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[(?:\s*\*/)?)|(?:-->|(?://|/\*)?\s*\]\]>(?:\s*\*/)?)\s*\Z")
HEADLINE = NUMBER["h1"]
WORKS = frozenset(  # schema.org types whose properties are those of the page
    "Article NewsArticle BlogPosting Report ScholarlyArticle TechArticle WebPage Product Recipe Event Book Movie "  # noqa: SIM905
    "DiscussionForumPosting QAPage FAQPage VideoObject SocialMediaPosting LiveBlogPosting AnalysisNewsArticle Course "
    "JobPosting Review OpinionNewsArticle ReportageNewsArticle CreativeWork Dataset SoftwareApplication".split()
)


@dataclass(slots=True)
class Facts:
    """What a page declares.

    Attributes:
        title_tag: What its title element holds.
        heading: Its first heading of the first level.
        language: A BCP 47 tag.
        canonical: Its own address.
        times: Of its elements that are marked as the time of publication, and of those around its first heading.
        bylines: The texts of its elements that are marked as naming an author, as far as they can be names.
        metas: The first content of each meta name.
        linked: Its JSON-LD objects in order.
        scripts: How many scripts it has.
    """

    title_tag: str = ""
    heading: str = ""
    language: str = ""
    canonical: str = ""
    times: list[str] = field(default_factory=list)
    bylines: list[str] = field(default_factory=list)
    metas: dict[str, str] = field(default_factory=dict)
    linked: list[dict[str, Any]] = field(default_factory=list)
    scripts: int = 0

    def title(self) -> str:
        """The title, without a site name that the page also gives alone."""
        declared = self._meta(TITLES) or self.title_tag
        if self.heading and declared.startswith(self.heading):
            return self.heading
        return declared or self._item("headline", "name") or self.heading

    def description(self) -> str:
        """The page's own summary."""
        return self._meta(DESCRIPTIONS) or self._item("description")

    def published(self) -> str:
        """ISO 8601, as declared; empty if there is none that reads as a date."""
        candidates = [self._item("datePublished"), *(self.metas.get(name, "") for name in DATES), *self.times]
        found = (DATE.match(each.strip()) for each in candidates)
        return next((match[0].replace(" ", "T", 1).replace(" ", "") for match in found if match), "")

    def author(self) -> str:
        """The names of the authors, joined by commas; the site's own name only where nobody is named.

        Addresses are no names; an account is one if it is not the site's.
        """
        creator, own = self._meta(("twitter:creator",)), self._meta(("twitter:site",))
        account = creator if own and own.lower() != creator.lower() else ""
        declared = [self._meta(AUTHORS), self._item("author", "creator"), *self.bylines, account]
        named = [each for each in declared if each and not ADDRESS.search(each)]
        sites = {self.site().lower(), own.lower()}
        return next((each for each in named if each.lower() not in sites), named[0] if named else "")

    def site(self) -> str:
        """The publication's name."""
        return self._meta(SITES) or self._item("publisher")

    def body(self) -> str:
        """The article's text as its JSON-LD gives it."""
        return next((str(each["articleBody"]) for each in self.linked if each.get("articleBody")), "")

    def types(self) -> list[str]:
        """The types of the page's JSON-LD objects, each once."""
        return list(dict.fromkeys(kind for each in self.linked for kind in words_of(each.get("@type"))))[:20]

    def _meta(self, names: tuple[str, ...]) -> str:
        return next((line_of(self.metas[name]) for name in names if self.metas.get(name, "").strip()), "")

    def _item(self, *names: str) -> str:
        """The first of these properties in any JSON-LD object that describes a work."""
        for each in self.linked:
            if not WORKS.isdisjoint(words_of(each.get("@type"))):
                found = [word for name in names for word in words_of(each.get(name))]
                if found:
                    return line_of(", ".join(found[:5]))
        return ""


def read_facts(tree: Any, page: Blocks, base: str, told: Told | None = None) -> Facts:
    """The facts of a parsed page whose blocks are known; relative addresses start from `base`."""
    told = told or told_by(tree)
    facts = Facts(language=_language(tree), title_tag=line_of(told.title[:2_000]), scripts=len(told.scripts))
    headline = next((at for at, row in enumerate(page.rows) if _heads(page, row)), -1)
    facts.heading = page.texts[headline][:500] if headline >= 0 else ""
    for given in told.metas:
        _declare(facts, given)
    for kind, node in told.scripts:
        if "ld+json" in kind:
            facts.linked += objects(node.text() or "", ITEMS - len(facts.linked))
    facts.canonical = next(filter(None, (absolute(address, base) for address in told.canonical)), "")
    facts.times = [given.get("datetime") or "" for given in told.times[:TIMES]]
    for node in told.bylines:
        if len(facts.bylines) < BYLINES:
            facts.bylines += _names(node)
    if headline >= 0:
        near = [page.times[at] for at in range(headline - ABOVE, headline + BELOW) if at in page.times]
        facts.times += near if len(near) <= FEW else []
    facts.language = facts.language or line_of(facts.metas.get("content-language"), 20)
    return facts


def _heads(page: Blocks, row: tuple[int, ...]) -> bool:
    return page.elements[row[0]][1] == HEADLINE


def _language(tree: Any) -> str:
    given = tree.root.attributes if tree.root is not None else {}
    found = LANGUAGE.fullmatch((given.get("lang") or given.get("xml:lang") or "").strip())
    return found[0].replace("_", "-") if found else ""


def _declare(facts: Facts, given: Given) -> None:
    """Takes in a meta element."""
    name = given.get("property") or given.get("name") or given.get("itemprop") or given.get("http-equiv") or ""
    if name and given["content"] and len(facts.metas) < METAS:
        facts.metas.setdefault(name.strip().lower()[:100], given["content"][:5_000])


def _names(node: Any) -> list[str]:
    """The text of an element if it can be a name, or that of the name in it."""
    inner = node.css_first('[itemprop~="name" i]')
    text = line_of((inner or node).text(separator=" ")[:500])
    return [text] if 2 < len(text) <= BYLINE and not any(map(str.isdigit, text)) else []


def objects(script: str, limit: int) -> list[dict[str, Any]]:
    """The objects of a JSON-LD script, those of its graph included, without descending further."""
    if len(script) > JSON_LIMIT:
        return []
    try:
        data = json.loads(WRAPPED.sub("", script), strict=False)
    except (ValueError, RecursionError):
        return []
    found, waiting = [], [data]
    while waiting and len(found) < limit:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting = value[:limit] + waiting
        elif isinstance(value, dict):
            found.append(value)
            waiting = [each for each in (value.get("@graph"), value.get("mainEntity")) if each] + waiting
    return found


def words_of(value: Any) -> list[str]:
    """The texts of a JSON-LD value: itself, its name, or those of its members."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return words_of(value.get("name")) if not isinstance(value.get("name"), dict) else []
    if isinstance(value, list):
        return [word for each in value[:20] if not isinstance(each, list) for word in words_of(each)]
    return []
