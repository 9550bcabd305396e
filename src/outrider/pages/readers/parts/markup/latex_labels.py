"""What references of LaTeX show: the numbers that sections, figures, tables and formulas have."""

import re

LEVELS = ("chapter", "section", "subsection", "subsubsection")
TOLD = re.compile(
    rf"\\({'|'.join(LEVELS)})(?!\*)(?:\[[^\]]{{0,300}}\])?\{{|\\begin\{{(figure|table|equation|align|gather|multline|lstlisting|longtable)\*?\}}"
    r"|\\(caption)(?![a-zA-Z])|\\label\{([^{}\n]{1,200})\}"
)
FLOATS = {"figure": "Figure", "table": "Table", "longtable": "Table"}
FORMULAS = frozenset({"equation", "align", "gather", "multline"})


def labels(body: str) -> dict[str, str]:
    """What each label stands for, as LaTeX would number it."""
    found: dict[str, str] = {}
    counters: dict[str, int] = {}
    sections = [0] * len(LEVELS)
    chapters = r"\chapter" in body
    now = kind = ""
    for each in TOLD.finditer(body):
        section, begun, caption, label = each.groups()
        if section:
            level = LEVELS.index(section)
            sections[level] += 1
            sections[level + 1 :] = [0] * (len(LEVELS) - level - 1)
            now = ".".join(map(str, sections[0 if chapters else 1 : level + 1]))
        elif begun:
            kind = begun
            if begun in FORMULAS:
                counters["equation"] = counters.get("equation", 0) + 1
                now = str(counters["equation"])
        elif caption:
            name = FLOATS.get(kind, "Figure")
            counters[name] = counters.get(name, 0) + 1
            now = str(counters[name])
        elif label and now:
            found.setdefault(label, now)
    return found
