"""Whether an element's own attributes hide it: text for machines only, the usual vehicle of injected instructions."""

import re
from functools import lru_cache

from outrider.pages.extraction.blocks.panels import is_named_panel

HIDING_DECLARATIONS = (
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|font(?:-size)?\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%|vw|vh)?\s*(?:[;!/]|$)"
    r"|(?:^|[;\s])(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|clip-path\s*:\s*circle\(\s*0|margin-left\s*:\s*-\d{2,}(?:in|em|rem)"
    r"|transform\s*:\s*[^;]{0,80}(?:scale\(\s*0\s*\)|translate[xy]?\(\s*-\d{4,})"
    r"|(?:^|[;\s])color\s*:\s*(?:transparent|rgba\([^)]{0,60},\s*0\s*\))"
)
HIDING_RULE_PATTERN = re.compile(HIDING_DECLARATIONS)  # this and all others for styles in small letters
HIDING_STYLE_PATTERN = re.compile(
    HIDING_DECLARATIONS
    + r"|(?:^|[;\s])(?:opacity\s*:\s*(?:0(?:\.0\d*)?|\.0\d*)%?|zoom\s*:\s*0|filter\s*:\s*opacity\(0(?:\.0)?%?\)"
    r"|font-size\s*:\s*(?:0?\.\d+(?:px|pt)|1px))\s*(?:[;!]|$)"
)
NEGATIVE_OFFSET_PATTERN = re.compile(r":\s*-\d\d")
MOVING_TRANSFORM_PATTERN = re.compile(
    r"transform\s*:\s*(?:matrix|translate)"
)  # transparent until it has moved to its place
ZERO_SIZE_PATTERN = re.compile(r"(?:^|[;\s])(?:max-)?(?:width|height)\s*:\s*[01](?:px)?\s*(?:[;!]|$)")
OVERFLOW_HIDDEN_PATTERN = re.compile(r"overflow\s*:\s*(?:hidden|clip)")
COLOR_PATTERN = re.compile(
    r"(?:^|[;\s])(background(?:-color)?|color)\s*:\s*(#\w{3,8}|rgba?\([\d.,\s]{5,30}\)|[a-z]+\b(?!\())"
)
COLOR_NAMES = {"white": "#fff", "black": "#000", "red": "#f00", "yellow": "#ff0", "gray": "#808080", "grey": "#808080"}
COLOR_KEYWORDS = frozenset({"inherit", "initial", "unset", "revert", "none", "currentcolor"})  # what is none by itself
CHANNEL_PATTERN = re.compile(r"\d+(?:\.\d+)?")
HEX_DIGITS = frozenset("0123456789abcdef")
HIDING_ATTRIBUTES = frozenset(
    {"hidden", "aria-hidden", "style", "popover"}
)  # attributes without which an element hides nothing itself
PANEL_ROLES = frozenset({"", "region", "tabpanel", "group", "article"})


def is_hidden_by_attributes(given: dict[str, str | None]) -> bool:
    """Whether an element with these attributes is not shown, and not to be shown either.

    Panels that a reader opens, what fades in as it is scrolled to, and the parts that a server sent late for a
    script to put in place (React's `S:` segments), are text of the page.
    """
    if not _has_hiding_attribute(given):
        return False
    if given.get("role") == "tabpanel":
        return False
    if is_named_panel(given) or ("aria-labelledby" in given and (given.get("role") or "") in PANEL_ROLES):
        return False
    return not ("hidden" in given and (given.get("id") or "").startswith("S:"))


def _has_hiding_attribute(given: dict[str, str | None]) -> bool:
    max_style_chars = 600  # characters of a style that are looked at
    if "popover" in given:
        return True
    if "hidden" in given and (given["hidden"] or "").lower() != "until-found":
        return True
    if "aria-hidden" in given and (given["aria-hidden"] or "").strip().lower() == "true":
        return True
    style = given.get("style")
    return bool(style) and _is_hiding_style(style[:max_style_chars])


@lru_cache(maxsize=1_000)
def _is_hiding_style(style: str) -> bool:
    """Whether a style of an element's own takes it out of sight: gone, of no size, or in the colour of its ground."""
    # Without any of these a style holds none of those, and most styles hold none of these.
    hiding_words = (
        "none",
        "hidden",
        "collapse",
        "font",
        "clip",
        "transform",
        "transparent",
        "rgba(",
        "opacity",
        "zoom",
    )
    style = style.lower()
    if (
        any(word in style for word in hiding_words) or NEGATIVE_OFFSET_PATTERN.search(style)
    ) and HIDING_STYLE_PATTERN.search(style):
        return not MOVING_TRANSFORM_PATTERN.search(style) or bool(HIDING_RULE_PATTERN.search(style))
    if "overflow" in style and OVERFLOW_HIDDEN_PATTERN.search(style) and ZERO_SIZE_PATTERN.search(style):
        return True
    if "background" not in style:
        return False
    colours = {name[:5]: value for name, value in COLOR_PATTERN.findall(style)}
    if not COLOR_KEYWORDS.isdisjoint(colours.values()):
        return False
    return len(colours) == 2 and _alike(*map(_parse_color, colours.values()))


def _alike(one: list[int], other: list[int]) -> bool:
    """Whether nobody can tell two colours apart."""
    max_channel_difference = 8  # of 255 that one of red, green and blue may differ without being seen
    return len(one) == len(other) and all(abs(a - b) <= max_channel_difference for a, b in zip(one, other, strict=True))


def _parse_color(colour: str) -> list[int]:
    """Red, green and blue, 0 to 255; of a name that is not known, its letters."""
    colour = COLOR_NAMES.get(colour, colour)
    if colour[0] == "#":
        digits = colour[1:] if len(colour) > 5 else "".join([digit * 2 for digit in colour[1:]])
        return [int(digits[at : at + 2], 16) if HEX_DIGITS.issuperset(digits) else 0 for at in (0, 2, 4)]
    numbers = [round(float(each)) for each in CHANNEL_PATTERN.findall(colour)]
    return numbers[:3] or [ord(letter) * 256 for letter in colour]
