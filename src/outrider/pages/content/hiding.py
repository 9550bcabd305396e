"""Whether an element's own attributes hide it: text for machines only, the usual vehicle of injected instructions."""

import re

STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|(?:^|[;\s])opacity\s*:\s*0(?:\.0+)?\s*(?:[;!]|$)"
    r"|font(?:-size)?\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%|vw|vh)?\s*(?:[;!/]|$)"
    r"|(?:^|[;\s])(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|transform\s*:\s*[^;]*(?:scale\(\s*0\s*\)|translate[xy]?\(\s*-\d{4,})"
    r"|(?:^|[;\s])color\s*:\s*(?:transparent|rgba\([^)]*,\s*0\s*\))",
    re.IGNORECASE,
)


PANELS = frozenset({"", "region", "tabpanel", "group", "article"})


def hides(given: dict[str, str | None]) -> bool:
    """Whether an element with these attributes is not shown, and not to be shown either.

    Panels that a reader opens by a labelled button, and the parts that a server sent late for a
    script to put in place (React's `S:` segments), are text of the page.
    """
    if not _hidden(given):
        return False
    if "aria-labelledby" in given and (given.get("role") or "") in PANELS:
        return False
    return not ("hidden" in given and (given.get("id") or "").startswith("S:"))


def _hidden(given: dict[str, str | None]) -> bool:
    if "hidden" in given and (given["hidden"] or "").lower() != "until-found":
        return True
    if "aria-hidden" in given and (given["aria-hidden"] or "").strip().lower() == "true":
        return True
    style = given.get("style")
    return style is not None and STYLE.search(style[:2_000]) is not None
