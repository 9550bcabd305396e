"""Whether an element's own attributes hide it: text for machines only, the usual vehicle of injected instructions."""

import re
from functools import lru_cache

from outrider.pages.content.walking.panels import is_panel

RULES = (
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|font(?:-size)?\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%|vw|vh)?\s*(?:[;!/]|$)"
    r"|(?:^|[;\s])(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|clip-path\s*:\s*circle\(\s*0|margin-left\s*:\s*-\d{2,}(?:in|em|rem)"
    r"|transform\s*:\s*[^;]{0,80}(?:scale\(\s*0\s*\)|translate[xy]?\(\s*-\d{4,})"
    r"|(?:^|[;\s])color\s*:\s*(?:transparent|rgba\([^)]{0,60},\s*0\s*\))"
)
BY_RULE = re.compile(RULES)  # this and all others for styles in small letters
STYLE = re.compile(
    RULES + r"|(?:^|[;\s])(?:opacity\s*:\s*(?:0(?:\.0\d*)?|\.0\d*)%?|zoom\s*:\s*0|filter\s*:\s*opacity\(0(?:\.0)?%?\)"
    r"|font-size\s*:\s*(?:0?\.\d+(?:px|pt)|1px))\s*(?:[;!]|$)"
)
# Without any of these a style holds none of those, and most styles hold none of these.
WORDS = ("none", "hidden", "collapse", "font", "clip", "transform", "transparent", "rgba(", "opacity", "zoom")
NEGATIVE = re.compile(r":\s*-\d\d")
MOVES = re.compile(r"transform\s*:\s*(?:matrix|translate)")  # transparent until it has moved to its place
SIZE = re.compile(r"(?:^|[;\s])(?:max-)?(?:width|height)\s*:\s*[01](?:px)?\s*(?:[;!]|$)")
CLIPPED = re.compile(r"overflow\s*:\s*(?:hidden|clip)")
COLOUR = re.compile(r"(?:^|[;\s])(background(?:-color)?|color)\s*:\s*(#\w{3,8}|rgba?\([\d.,\s]{5,30}\)|[a-z]+\b(?!\())")
NEAR = 8  # of 255 that one of red, green and blue may differ without being seen
NAMED = {"white": "#fff", "black": "#000", "red": "#f00", "yellow": "#ff0", "gray": "#808080", "grey": "#808080"}
KEYWORDS = frozenset({"inherit", "initial", "unset", "revert", "none", "currentcolor"})  # what is none by itself
NUMBERS = re.compile(r"\d+(?:\.\d+)?")
HEXADECIMAL = frozenset("0123456789abcdef")
STYLE_LIMIT = 600  # characters of a style that are looked at
CLUES = frozenset(
    {"hidden", "aria-hidden", "style", "popover"}
)  # attributes without which an element hides nothing itself
PANELS = frozenset({"", "region", "tabpanel", "group", "article"})


def hides(given: dict[str, str | None]) -> bool:
    """Whether an element with these attributes is not shown, and not to be shown either.

    Panels that a reader opens, what fades in as it is scrolled to, and the parts that a server sent late for a
    script to put in place (React's `S:` segments), are text of the page.
    """
    if not _hidden(given):
        return False
    if given.get("role") == "tabpanel":
        return False
    if is_panel(given) or ("aria-labelledby" in given and (given.get("role") or "") in PANELS):
        return False
    return not ("hidden" in given and (given.get("id") or "").startswith("S:"))


def _hidden(given: dict[str, str | None]) -> bool:
    if "popover" in given:
        return True
    if "hidden" in given and (given["hidden"] or "").lower() != "until-found":
        return True
    if "aria-hidden" in given and (given["aria-hidden"] or "").strip().lower() == "true":
        return True
    style = given.get("style")
    return bool(style) and _unseen(style[:STYLE_LIMIT])


@lru_cache(maxsize=1_000)
def _unseen(style: str) -> bool:
    """Whether a style of an element's own takes it out of sight: gone, of no size, or in the colour of its ground."""
    style = style.lower()
    if (any(word in style for word in WORDS) or NEGATIVE.search(style)) and STYLE.search(style):
        return not MOVES.search(style) or bool(BY_RULE.search(style))
    if "overflow" in style and CLIPPED.search(style) and SIZE.search(style):
        return True
    if "background" not in style:
        return False
    colours = {name[:5]: value for name, value in COLOUR.findall(style)}
    if not KEYWORDS.isdisjoint(colours.values()):
        return False
    return len(colours) == 2 and _alike(*map(_channels, colours.values()))


def _alike(one: list[int], other: list[int]) -> bool:
    """Whether nobody can tell two colours apart."""
    return len(one) == len(other) and all(abs(a - b) <= NEAR for a, b in zip(one, other, strict=True))


def _channels(colour: str) -> list[int]:
    """Red, green and blue, 0 to 255; of a name that is not known, its letters."""
    colour = NAMED.get(colour, colour)
    if colour[0] == "#":
        digits = colour[1:] if len(colour) > 5 else "".join([digit * 2 for digit in colour[1:]])
        return [int(digits[at : at + 2], 16) if HEXADECIMAL.issuperset(digits) else 0 for at in (0, 2, 4)]
    numbers = [round(float(each)) for each in NUMBERS.findall(colour)]
    return numbers[:3] or [ord(letter) * 256 for letter in colour]
