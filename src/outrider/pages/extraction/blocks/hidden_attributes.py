"""Decide whether an element's own attributes hide it.

Text that only machines see is the usual vehicle of injected instructions.
"""

import re
from functools import lru_cache

from outrider.pages.extraction.blocks.panels import is_named_panel

HIDING_DECLARATIONS = (
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|font(?:-size)?\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%|vw|vh)?\s*(?:[;!/]|$)"
    r"|(?:^|[;\s])(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|clip-path\s*:\s*(?:circle\(\s*0|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?\s*(?:,\s*0(?:px|%)?\s+0(?:px|%)?\s*)*\))"
    r"|margin-left\s*:\s*-\d{2,}(?:in|em|rem)"
    r"|transform\s*:\s*[^;]{0,80}(?:scale\(\s*0\s*\)|translate[xy]?\(\s*-\d{4,})"
    r"|(?:^|[;\s])color\s*:\s*(?:transparent|rgba\([^)]{0,60},\s*0\s*\))"
)
HIDING_RULE_PATTERN = re.compile(HIDING_DECLARATIONS)  # all of these patterns expect lower case
HIDING_STYLE_PATTERN = re.compile(
    HIDING_DECLARATIONS
    + r"|(?:^|[;\s])(?:opacity\s*:\s*(?:0(?:\.0\d*)?|\.0\d*)%?|zoom\s*:\s*0|filter\s*:\s*opacity\(0(?:\.0)?%?\)"
    r"|font-size\s*:\s*(?:0?\.\d+(?:px|pt)|1px))\s*(?:[;!]|$)"
)
NEGATIVE_OFFSET_PATTERN = re.compile(r":\s*-\d\d")
MOVING_TRANSFORM_PATTERN = re.compile(r"transform\s*:\s*(?:matrix|translate)")  # transparent until it has moved in
ZERO_SIZE_PATTERN = re.compile(r"(?:^|[;\s])(?:max-)?(?:width|height)\s*:\s*[01](?:px)?\s*(?:[;!]|$)")
OVERFLOW_HIDDEN_PATTERN = re.compile(r"overflow\s*:\s*(?:hidden|clip)")
COLOR_PATTERN = re.compile(
    r"(?:^|[;\s])(background(?:-color)?|color)\s*:\s*(#\w{3,8}|rgba?\([\d.,\s]{5,30}\)|[a-z]+\b(?!\())"
)
HIDING_ATTRIBUTES = frozenset(
    {"hidden", "aria-hidden", "style", "popover", "color"}
)  # without these no element hides itself


def is_hidden_by_attributes(attributes: dict[str, str | None]) -> bool:
    """Return whether an element with these attributes stays hidden.

    Panels that a reader can open, content that fades in while scrolling, and server-rendered parts that a script moves
    into place (React's `S:` segments) are treated as shown.
    """
    if not _has_hiding_attribute(attributes):
        return False
    if attributes.get("role") == "tabpanel":
        return False
    if is_named_panel(attributes) or (
        "aria-labelledby" in attributes
        and (attributes.get("role") or "") in {"", "region", "tabpanel", "group", "article"}
    ):
        return False
    return not ("hidden" in attributes and (attributes.get("id") or "").startswith("S:"))


def _has_hiding_attribute(attributes: dict[str, str | None]) -> bool:
    max_style_chars = 600  # the rest of a longer style is ignored
    if "popover" in attributes:
        return True
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    if "aria-hidden" in attributes and (attributes["aria-hidden"] or "").strip().lower() == "true":
        return True
    style = attributes.get("style")
    return bool(style) and _is_hiding_style(style[:max_style_chars])


@lru_cache(maxsize=1_000)
def _is_hiding_style(style: str) -> bool:
    """Return whether an inline style hides its element: removed, without size, or in the background's colour."""
    # A quick check first: the pattern cannot match a style without any of these words, and most styles have none.
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
    colors = {name[:5]: value for name, value in COLOR_PATTERN.findall(style)}
    if not {"inherit", "initial", "unset", "revert", "none", "currentcolor"}.isdisjoint(colors.values()):
        return False
    if len(colors) != 2:
        return False
    text_color, background = map(_parse_color, colors.values())
    max_channel_difference = 8  # of 255, invisible to readers
    return len(text_color) == len(background) and all(
        abs(a - b) <= max_channel_difference for a, b in zip(text_color, background, strict=True)
    )


@lru_cache(maxsize=1_000)
def is_white_text(style: str) -> bool:
    """Return whether an inline style sets the text's color to white, or nearly so, and no background."""
    colors = dict(COLOR_PATTERN.findall(style.lower())) if "color" in style.lower() else {}
    return "color" in colors and "background" not in style.lower() and is_white(colors["color"])


def is_white(color: str) -> bool:
    """Return whether a reader cannot distinguish a color from white."""
    min_channel = 247  # of 255
    if color in {"inherit", "initial", "unset", "revert", "none", "currentcolor"}:
        return False
    channels = _parse_color(color)
    return len(channels) == 3 and all(min_channel <= channel <= 255 for channel in channels)


def _parse_color(color: str) -> list[int]:
    """Return red, green and blue from 0 to 255. An unknown name gives numbers above that, from its letters."""
    names = {"white": "#fff", "black": "#000", "red": "#f00", "yellow": "#ff0", "gray": "#808080", "grey": "#808080"}
    color = names.get(color, color)
    if color[0] == "#":
        digits = color[1:] if len(color) > 5 else "".join([digit * 2 for digit in color[1:]])
        is_hex = set("0123456789abcdef").issuperset(digits)
        return [int(digits[at : at + 2], 16) if is_hex else 0 for at in (0, 2, 4)]
    channels = [round(float(number)) for number in re.findall(r"\d+(?:\.\d+)?", color)]
    return channels[:3] or [ord(letter) * 256 for letter in color]
