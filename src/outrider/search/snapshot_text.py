"""Parse the accessibility snapshots of `agent-browser` into outlines.

Until 0.15, a role and a name are followed by one bracket for each attribute, and an address is a child line:

    - link "Example" [ref=e2] [nth=1]:
      - /url: https://example.com/

Since 0.33, one bracket holds all attributes, the address last, and text is an element of its own:

    - link "Example" [level=2, ref=e2, url=https://example.com/]
      - StaticText "Example"
"""

import json
import re
from dataclasses import replace

from outrider.search.outline import MAX_OUTLINE_LINES, OutlineLine

ELEMENT_LINE = re.compile(r"(?P<indent> *)- (?P<rest>.*)")
ELEMENT_HEAD = re.compile(r"(?P<role>[A-Za-z]+)(?: (?P<name>\"(?:[^\"\\]|\\.)*\"))?(?P<after>.*)", re.DOTALL)
URL_ATTRIBUTE = re.compile(r"url=(?P<url>.*?)\](?:: .*)?$")
REF_ATTRIBUTE = re.compile(r" \[(?:ref=e\d+|nth=\d+)\]")


def parse_snapshot(text: str) -> list[OutlineLine]:
    """Return the outline; lines that do not describe an element are skipped."""
    empty_snapshots = ("(empty page)", "Empty page", "(no interactive elements)", "")
    lines: list[OutlineLine] = []
    if text.strip() in empty_snapshots:
        return lines
    for raw in text.splitlines()[:MAX_OUTLINE_LINES]:
        match = ELEMENT_LINE.fullmatch(raw)
        if match is None:
            continue
        depth, rest = len(match["indent"]) // 2, match["rest"]
        if rest.startswith("/"):  # a property of the element above, such as `/url: https://…`
            name, _, value = rest.partition(": ")
            if name == "/url" and lines and lines[-1].depth == depth - 1:
                lines[-1] = replace(lines[-1], url=_parse_scalar(value))
            continue
        if quoted := re.match(r"'((?:[^']|'')*)'(.*)", rest, re.DOTALL):
            # The old dialect is YAML, which quotes a key with a colon.
            rest = quoted[1].replace("''", "'") + quoted[2]
        if (line := _parse_line(depth, rest)) is not None:
            lines.append(line)
    return lines


def _parse_line(depth: int, rest: str) -> OutlineLine | None:
    text_roles = frozenset({"text", "StaticText", "InlineTextBox"})
    # The old dialect puts its first bracket into a name that holds quotation marks.
    head = ELEMENT_HEAD.fullmatch(REF_ATTRIBUTE.sub("", rest) if '" [ref=' in rest or "] [nth=" in rest else rest)
    if head is None:
        return None
    role, after = head["role"], head["after"]
    address = URL_ATTRIBUTE.search(after)
    value = after.partition(": ")[2] if address is None else ""
    name = _decode_name(head["name"])
    text = name or _parse_scalar(value)
    return OutlineLine(
        depth, "text" if role in text_roles else role, " ".join(text.split()), address["url"] if address else ""
    )


def _decode_name(quoted: str | None) -> str:
    if quoted is None:
        return ""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _parse_scalar(value: str) -> str:
    value = value.strip()
    return _decode_name(value) if len(value) > 1 and value[0] == value[-1] == '"' else value
