"""A stream of HTML tokens as Markdown blocks, each with the region of the page that it stands in."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from outrider.pages.document import ImageRef, Link, line_of, plain
from outrider.pages.inline import MARKS, Inline, absolute
from outrider.pages.markup import Tag, Token
from outrider.pages.table import Table

HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
BLOCKS = frozenset(
    "address article aside body caption center dd details dir div dl dt fieldset figcaption figure footer form header "  # noqa: SIM905
    "hgroup html legend li main menu nav ol optgroup option p section summary tbody td tfoot th thead tr ul".split()
)
SURROUNDINGS = frozenset({"nav", "header", "footer", "aside"})  # around the content, where not inside of it
CENTRE = frozenset({"main", "article"})
LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-:]?\s*([\w+#-]{1,20})")
DEPTH = 6  # indentation and quotation deeper than this says nothing
LINKS = 10_000
IMAGES = 2_000
TRACKED = 64  # open regions that are remembered


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, heading, item, table or listing; `tight` ones follow without an empty line."""

    text: str
    region: str
    tight: bool = False


@dataclass
class Writer:
    """Makes blocks, links and images of the tokens it is given, in order."""

    base: str = ""
    blocks: list[Block] = field(default_factory=list)
    links: list[tuple[Link, str]] = field(default_factory=list)
    images: dict[str, ImageRef] = field(default_factory=dict)
    tables: list[list[list[str]]] = field(default_factory=list)
    _inline: Inline = field(default_factory=Inline)
    _prefix: str = ""
    _lists: list[int] = field(default_factory=list)
    _quotes: int = 0
    _listing: str | None = None
    _anchor: tuple[str, int] | None = None
    _table: Table | None = None
    _regions: list[str] = field(default_factory=list)

    def feed(self, stream: Iterable[Token]) -> None:
        """Takes in tokens to their end."""
        for token in stream:
            if isinstance(token, Tag):
                self._tag(token)
            elif self._listing is not None:
                self._inline.verbatim(token.text)
            else:
                self._inline.add(token.text)
        self._flush()
        self._end_table()

    @property
    def region(self) -> str:
        """`centre` inside of main or article, `around` inside of navigation and the like, else empty."""
        if not self._regions:
            return ""
        inner = self._regions[-1]
        if inner in CENTRE or (inner == "header" and not CENTRE.isdisjoint(self._regions)):
            return "centre"
        return "around"

    def _tag(self, tag: Tag) -> None:
        act = ACTIONS.get(tag.name)
        if act is not None:
            act(self, tag)
        elif tag.name in MARKS:
            if self._listing is None:
                (self._inline.close if tag.closing else self._inline.open)(tag.name)
        elif tag.name in BLOCKS or tag.name in CENTRE:
            self._flush()
        self._enter(tag)

    def _enter(self, tag: Tag) -> None:
        if tag.name not in SURROUNDINGS and tag.name not in CENTRE:
            return
        if not tag.closing:
            if len(self._regions) < TRACKED:
                self._regions.append(tag.name)
        elif tag.name in self._regions:
            while self._regions.pop() != tag.name:
                pass

    def _flush(self) -> None:
        """Ends the paragraph at hand."""
        if self._listing is not None:
            return
        self._link_so_far()
        if self._table is not None:
            self._table.add(self._inline.take())
            return
        text = self._inline.take()
        prefix, self._prefix = self._prefix, ""
        if text:
            self._write(prefix, text)
        elif prefix and not prefix.startswith("#"):
            self._prefix = prefix

    def _write(self, prefix: str, text: str) -> None:
        item = bool(prefix) and not prefix.startswith("#")
        indent = "  " * (min(len(self._lists), DEPTH) - 1) if self._lists else ""
        if self._lists and not prefix:
            indent += "  "
        lead = "> " * min(self._quotes, DEPTH) + indent
        body = text.replace("\n", "\n" + lead + " " * (len(prefix) if item else 0))
        self.blocks.append(Block(lead + prefix + body, self.region, tight=item))

    def heading(self, tag: Tag) -> None:
        self._flush()
        self._prefix = "" if tag.closing else HEADINGS[tag.name]

    def listed(self, tag: Tag) -> None:
        self._flush()
        if not tag.closing:
            self._lists.append(1 if tag.name == "ol" else 0)
        elif self._lists:
            self._lists.pop()
            self._prefix = ""

    def item(self, tag: Tag) -> None:
        self._flush()
        self._prefix = ""
        if tag.closing:
            return
        number = self._lists[-1] if self._lists else 0
        self._prefix = f"{number}. " if number else "- "
        if number:
            self._lists[-1] += 1

    def term(self, tag: Tag) -> None:
        if tag.closing:
            self._inline.close("b")
        self._flush()
        if not tag.closing:
            self._inline.open("b")

    def quote(self, tag: Tag) -> None:
        self._flush()
        self._quotes = max(0, self._quotes + (-1 if tag.closing else 1))

    def pre(self, tag: Tag) -> None:
        if not tag.closing:
            self._flush()
            if self._table is None and self._listing is None:
                found = LANGUAGE.search(tag.get("class")[:200])
                self._listing = found[1] if found else ""
        elif self._listing is not None:
            text, language = "".join(self._inline.pieces).strip("\n").rstrip(), self._listing
            self._inline.take()
            self._listing = None
            if text.strip():
                fence = "````" if "```" in text else "```"
                self._prefix = ""
                self.blocks.append(Block(f"{fence}{language}\n{text}\n{fence}", self.region))

    def code(self, tag: Tag) -> None:
        if self._listing is None:
            (self._inline.close if tag.closing else self._inline.open)("code")
        elif not tag.closing and not self._listing and (found := LANGUAGE.search(tag.get("class")[:200])):
            self._listing = found[1]

    def line_break(self, _tag: Tag) -> None:
        self._inline.verbatim(" " if self._table is not None or self._prefix.startswith("#") else "\n")

    def rule(self, _tag: Tag) -> None:
        self._flush()
        if self._table is None:
            self.blocks.append(Block("---", self.region))

    def link(self, tag: Tag) -> None:
        self._link_so_far()
        self._anchor = None
        if tag.closing or self._listing is not None:
            return
        address = absolute(tag.get("href"), self.base)
        if address:
            self._anchor = (address, len(self._inline.pieces))

    def _link_so_far(self) -> None:
        """Makes a link of what stands since its opening; the rest of a link over several blocks stays text."""
        if self._anchor is None or self._listing is not None:
            return
        address, start = self._anchor
        text = self._inline.wrap(start, "[", f"]({address})", "](")
        if len(self.links) < LINKS:
            self.links.append((Link(line_of(plain(text), 300), address), self.region))
        if text:
            self._anchor = None

    def image(self, tag: Tag) -> None:
        image = image_of(tag, self.base)
        if image is None:
            return
        if len(self.images) < IMAGES:
            self.images.setdefault(image.url, image)
        if image.alt and self._listing is None:
            self._inline.verbatim(f"![{image.alt}]({image.url})")

    def math(self, tag: Tag) -> None:
        if not tag.closing and (formula := tag.get("alttext")):
            self._inline.verbatim(f"${formula}$")

    def tabular(self, tag: Tag) -> None:
        self._flush()
        if tag.name == "table" or self._table is None:
            self._end_table()
            if tag.name == "table" and not tag.closing and self._listing is None:
                self._table = Table()
        elif not tag.closing:
            self._table.start(tag.name)

    def _end_table(self) -> None:
        table, self._table = self._table, None
        if table is None:
            return
        if table.is_data():
            self.tables.append(table.rows())
            self._prefix = ""
            self.blocks.append(Block(table.markdown(), self.region))
            return
        for text in table.texts():
            self._write("", text)


def image_of(tag: Tag, base: str) -> ImageRef | None:
    """The picture of an img tag: its source, or what a script would put there."""
    candidates = ("src", "data-src", "data-original", "data-lazy-src")
    addresses = [absolute(tag.get(name), base) for name in candidates]
    addresses += [absolute(_largest(tag.get(name)), base) for name in ("srcset", "data-srcset")]
    lazy = next((address for address in addresses[1:4] if address), "")
    address = lazy or next((address for address in addresses if address.startswith("http")), "")
    if not address.startswith("http"):
        return None
    alt = line_of(tag.get("alt"), 300).replace("[", "(").replace("]", ")")
    return ImageRef(address, alt, _pixels(tag.get("width")), _pixels(tag.get("height")))


def _largest(candidates: str) -> str:
    """The last address of a srcset, which by custom is the largest (html.spec.whatwg.org, srcset attribute)."""
    parts = [part.split() for part in candidates[-4_000:].split(", ")]
    return next((part[0] for part in reversed(parts) if part), "")


def _pixels(value: str) -> int | None:
    digits = value.removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None


ACTIONS: dict[str, Callable[[Writer, Tag], None]] = {
    **dict.fromkeys(HEADINGS, Writer.heading),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), Writer.listed),
    **dict.fromkeys(("table", "tr", "td", "th"), Writer.tabular),
    "li": Writer.item,
    "dt": Writer.term,
    "blockquote": Writer.quote,
    "pre": Writer.pre,
    "code": Writer.code,
    "br": Writer.line_break,
    "hr": Writer.rule,
    "a": Writer.link,
    "img": Writer.image,
    "math": Writer.math,
}
