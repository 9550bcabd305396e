"""What a page holds but does not show: text for machines only, the usual vehicle of injected instructions.

Left out are nodes hidden by attribute, by their own style, or by a plain rule of the page's own
style sheet. Rules inside of @media and the like, and opacity, are not looked at: real pages use
them for what scripts bring into view.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from outrider.pages.markup import RAW, Tag, Token

STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|font(?:-size)?\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%|vw|vh)?\s*(?:[;!/]|$)"
    r"|(?:^|[;\s])(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|transform\s*:\s*[^;]{0,80}(?:scale\(\s*0\s*\)|translate[xy]?\(\s*-\d{4,})"
    r"|(?:^|[;\s])color\s*:\s*(?:transparent|rgba\([^)]{0,60},\s*0\s*\))",
    re.IGNORECASE,
)
SIMPLE = re.compile(r"[.#][\w-]+")
STYLE_LIMIT = 600  # characters of one rule or attribute that are looked at
SHEET_LIMIT = 200_000  # characters of style sheets that are looked at
NEVER = frozenset({"html", "body", "main", "article"})  # pages that are hidden as a whole wait for their scripts
DROPPED = frozenset(  # nothing in these is text of the page
    "script style template svg object applet audio video canvas map datalist select "  # noqa: SIM905
    "textarea iframe noembed noframes xmp dialog".split()
)
ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {  # element without end tag: next siblings, containers
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "tr": (frozenset({"tr", "tbody", "thead", "tfoot"}), frozenset({"table"})),
    "td": (frozenset({"td", "th", "tr", "tbody"}), frozenset({"table"})),
    "th": (frozenset({"td", "th", "tr", "tbody"}), frozenset({"table"})),
    "p": (
        frozenset("p div ul ol table h1 h2 h3 h4 h5 h6 section article pre blockquote dl form hr".split()),  # noqa: SIM905
        frozenset({"div", "body", "section", "article", "td", "li", "blockquote"}),
    ),
}


@dataclass
class Skip:
    """An element that is being left out."""

    name: str
    depth: int = 1
    inside: int = 0

    def over(self, tag: Tag) -> bool | None:
        """Whether the element ends with this tag (True), has ended before it (None), or goes on (False)."""
        siblings, containers = ENDS.get(self.name, (frozenset(), frozenset()))
        if tag.name == self.name and not (siblings and self.inside):
            if not tag.closing and siblings:
                return None
            self.depth += -1 if tag.closing else 1
            return self.depth == 0
        if tag.name in containers:
            self.inside += -1 if tag.closing else 1
            return None if self.inside < 0 else False
        return None if tag.name in siblings and not tag.closing and not self.inside else False


@dataclass
class Hiding:
    """Decides what to leave out of one page; learns from its style sheets on the way."""

    names: set[str] = field(default_factory=set)
    read: int = 0

    def learn(self, sheet: str) -> None:
        """Takes in the plain class and id rules of a style sheet that hide."""
        sheet = sheet[: max(0, SHEET_LIMIT - self.read)]
        self.read += len(sheet)
        for rule in _top_level(sheet).split("}"):
            selectors, _, body = rule.rpartition("{")
            if STYLE.search(body[:STYLE_LIMIT]):
                parts = [part.strip() for part in selectors.split(",")]
                self.names.update(part for part in parts if SIMPLE.fullmatch(part))

    def hides(self, tag: Tag) -> bool:
        """Whether an opening tag's element is not shown."""
        if not tag.raw or tag.name in NEVER:
            return False
        given = tag.attributes
        if "hidden" in given and given["hidden"].lower() != "until-found":
            return True
        if given.get("aria-hidden", "").strip().lower() == "true" and not tag.void:
            return True
        return ("style" in given and STYLE.search(given["style"][:STYLE_LIMIT]) is not None) or self._by_rule(given)

    def _by_rule(self, given: dict[str, str]) -> bool:
        if not self.names:
            return False
        classes = {f".{name}" for name in given.get("class", "").split()}
        return not self.names.isdisjoint(classes | {f"#{given.get('id', '')}"})


def _top_level(sheet: str) -> str:
    """The sheet without comments and without what stands inside of @-rules."""
    sheet = re.sub(r"/\*.*?(?:\*/|\Z)", " ", sheet, flags=re.DOTALL)
    kept, depth, start, in_rule = [], 0, 0, False
    for match in re.finditer(r"[{}]", sheet):
        if match[0] == "{":
            in_rule = in_rule or (depth == 0 and "@" in sheet[start : match.start()])
            depth += 1
            continue
        depth = max(0, depth - 1)
        if depth == 0:
            if not in_rule:
                kept.append(sheet[start : match.end()])
            start, in_rule = match.end(), False
    return "".join(kept)


def shown(stream: Iterable[Token], hiding: Hiding) -> Iterator[Token]:
    """The tokens that a reader of the page sees."""
    skip: Skip | None = None
    for token in stream:
        if not isinstance(token, Tag):
            if skip is None:
                yield token
            continue
        if token.name == "style" and not token.closing:
            hiding.learn(token.content)
        if skip is not None:
            over = skip.over(token)
            skip = skip if over is False else None
            if over is not None:
                continue
        skip = _skipping(token, hiding)
        if skip is None and not (token.void and hiding.hides(token)):
            yield token


def _skipping(tag: Tag, hiding: Hiding) -> Skip | None:
    """What begins with this tag and is to be left out; an open dialog is a part of the page."""
    if tag.closing or tag.void or tag.name in RAW or (tag.name == "dialog" and "open" in tag.attributes):
        return None
    return Skip(tag.name) if tag.name in DROPPED or hiding.hides(tag) else None
