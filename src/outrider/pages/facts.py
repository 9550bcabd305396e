"""What a page says about itself: Open Graph, Dublin Core and JSON-LD, its title and first heading.

Measured against dates in other people's markings, only declared ones are worth having: searching
the text for dates finds one on nine pages of ten that have none.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.document import line_of
from outrider.pages.inline import absolute
from outrider.pages.markup import Tag, Text, Token

DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?)?")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
TITLES = ("og:title", "twitter:title", "dc.title")
DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
DATES = ("article:published_time", "datepublished", "dc.date", "dc.date.issued", "dcterms.created", "date", "pubdate")
DATES += ("citation_publication_date", "citation_date", "parsely-pub-date", "sailthru.date", "og:published_time")
AUTHORS = ("author", "article:author", "dc.creator", "citation_author", "parsely-author", "twitter:creator")
SITES = ("og:site_name", "application-name", "dc.publisher")
JSON_LIMIT = 500_000  # characters of one JSON-LD script
ITEMS = 2_000  # JSON-LD values that are looked at
METAS = 500


@dataclass
class Facts:
    """Collects facts while the tokens of a page pass by.

    `linked` holds the JSON-LD objects in order, `metas` the first content of each meta name.
    """

    url: str = ""
    base: str = ""
    titles: list[str] = field(default_factory=list)
    heading: list[str] = field(default_factory=list)
    language: str = ""
    canonical: str = ""
    times: list[str] = field(default_factory=list)
    metas: dict[str, str] = field(default_factory=dict)
    linked: list[dict[str, Any]] = field(default_factory=list)
    noscript: list[str] = field(default_factory=list)
    scripts: int = 0
    tags: int = 0
    _heading_open: bool = False
    _heading_done: bool = False

    def __post_init__(self) -> None:
        self.base = self.base or self.url

    def watch(self, stream: Iterable[Token]) -> Iterator[Token]:
        """Passes the tokens through."""
        for token in stream:
            if isinstance(token, Text):
                if self._heading_open:
                    self.heading.append(token.text)
            else:
                self.tags += 1
                self._note(token)
            yield token

    def _note(self, tag: Tag) -> None:
        if tag.name == "h1" and not self._heading_done:
            self._heading_done = tag.closing
            self._heading_open = not tag.closing
        if not tag.closing and (note := NOTES.get(tag.name)):
            note(self, tag)

    def note_title(self, tag: Tag) -> None:
        self.titles.append(line_of(Text(tag.content[:2_000]).text))

    def note_page(self, tag: Tag) -> None:
        found = LANGUAGE.fullmatch(tag.get("lang") or tag.get("xml:lang"))
        self.language = self.language or (found[0].replace("_", "-") if found else "")

    def note_base(self, tag: Tag) -> None:
        if self.base == self.url:
            self.base = absolute(tag.get("href"), self.url) or self.base

    def note_link(self, tag: Tag) -> None:
        if not self.canonical and "canonical" in tag.get("rel").lower().split():
            self.canonical = absolute(tag.get("href"), self.base)

    def note_meta(self, tag: Tag) -> None:
        name = (tag.get("property") or tag.get("name") or tag.get("itemprop")).lower()
        if name and tag.get("content") and len(self.metas) < METAS:
            self.metas.setdefault(name[:100], tag.get("content")[:5_000])

    def note_time(self, tag: Tag) -> None:
        if len(self.times) < 20 and ("pubdate" in tag.attributes or "published" in tag.get("itemprop").lower()):
            self.times.append(tag.get("datetime"))

    def note_noscript(self, tag: Tag) -> None:
        if len(self.noscript) < 20:
            self.noscript.append(tag.content)

    def note_script(self, tag: Tag) -> None:
        self.scripts += 1
        if "ld+json" in tag.get("type").lower() and len(tag.content) < JSON_LIMIT:
            self.linked += _objects(tag.content, ITEMS - len(self.linked))

    def title(self) -> str:
        """The title, without a site name that the page also gives alone."""
        heading = line_of("".join(self.heading)[:1_000])
        declared = self._meta(TITLES) or next(filter(None, self.titles), "")
        if heading and declared.startswith(heading):
            return heading
        return declared or self._item("headline", "name") or heading

    def description(self) -> str:
        return self._meta(DESCRIPTIONS) or self._item("description")

    def published(self) -> str:
        """ISO 8601, as declared; empty if there is none that reads as a date."""
        candidates = [self._item("datePublished"), *(self.metas.get(name, "") for name in DATES), *self.times]
        found = (DATE.match(each.strip()) for each in candidates)
        return next((match[0].replace(" ", "T", 1).replace(" ", "") for match in found if match), "")

    def author(self) -> str:
        """The names of the authors, joined by commas; addresses are no names."""
        named = self._meta(AUTHORS)
        return named if named and "://" not in named else self._item("author", "creator")

    def site(self) -> str:
        return self._meta(SITES) or self._item("publisher")

    def body(self) -> str:
        """The article's text as its JSON-LD gives it."""
        return next((str(each["articleBody"]) for each in self.linked if each.get("articleBody")), "")

    def kinds(self) -> list[str]:
        """The types of the page's JSON-LD objects, each once."""
        return list(dict.fromkeys(kind for each in self.linked for kind in _words(each.get("@type"))))[:20]

    def _meta(self, names: tuple[str, ...]) -> str:
        return next((line_of(self.metas[name]) for name in names if self.metas.get(name, "").strip()), "")

    def _item(self, *names: str) -> str:
        """The first of these properties in any JSON-LD object that describes a work."""
        for each in self.linked:
            if not WORKS.isdisjoint(_words(each.get("@type"))):
                found = [word for name in names for word in _words(each.get(name))]
                if found:
                    return line_of(", ".join(found[:5]))
        return ""


WORKS = frozenset(  # schema.org types whose properties are those of the page
    "Article NewsArticle BlogPosting Report ScholarlyArticle TechArticle WebPage Product Recipe Event Book Movie "  # noqa: SIM905
    "DiscussionForumPosting QAPage FAQPage VideoObject SocialMediaPosting LiveBlogPosting AnalysisNewsArticle Course "
    "JobPosting Review OpinionNewsArticle ReportageNewsArticle CreativeWork Dataset SoftwareApplication".split()
)
NOTES = {
    "title": Facts.note_title,
    "html": Facts.note_page,
    "base": Facts.note_base,
    "link": Facts.note_link,
    "meta": Facts.note_meta,
    "time": Facts.note_time,
    "noscript": Facts.note_noscript,
    "script": Facts.note_script,
}


def _objects(script: str, limit: int) -> list[dict[str, Any]]:
    """The objects of a JSON-LD script, those of its graph included, without descending further."""
    try:
        data = json.loads(script, strict=False)
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


def _words(value: Any) -> list[str]:
    """The texts of a JSON-LD value: itself, its name, or those of its members."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return _words(value.get("name")) if not isinstance(value.get("name"), dict) else []
    return (
        [word for each in value[:20] if not isinstance(each, list) for word in _words(each)]
        if isinstance(value, list)
        else []
    )
