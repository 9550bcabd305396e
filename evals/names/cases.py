"""Read the expectations of Web Platform Tests and of axe."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Property = Literal["name", "description", "role"]


@dataclass(frozen=True)
class Case:
    """An expected property of the first match of a selector on a page."""

    suite: str
    page: str
    selector: str
    property: Property
    expected: str
    title: str


@dataclass(frozen=True)
class Suites:
    """All cases, and the pages that are not files: address to HTML."""

    cases: list[Case]
    pages: dict[str, str]


def read_suites(wpt: Path, axe: Path | None) -> Suites:
    """Read the cases of a checkout of WPT and, if given, of axe."""
    cases = [*_read_manual_cases(wpt), *_read_attribute_cases(wpt)]
    pages: dict[str, str] = {}
    if axe is not None:
        cases += _read_axe_cases(axe, pages)
    return Suites(cases, pages)


def _read_manual_cases(wpt: Path) -> Iterator[Case]:
    """Read manual tests, whose steps are JSON in a script, with lines for ATK."""
    for file in sorted((wpt / "accname" / "manual").glob("*.html")):
        found = re.search(r"new ATTAcomm\(\s*(\{.*?\})\s*\)\s*;?\s*</script>", file.read_text("utf-8"), re.DOTALL)
        for step in json.loads(found[1])["steps"] if found else []:
            for kind, name, relation, value in (line[:4] for line in step["test"].get("ATK", []) if len(line) >= 4):
                if kind == "property" and name in ("name", "description") and relation == "is":
                    page = file.relative_to(wpt).as_posix()
                    yield Case("accname manual", page, f"#{step['element']}", name, value, file.stem)


EXPECTED_ATTRIBUTE = re.compile(r"data-expected(label|role|description)=")


def _read_attribute_cases(wpt: Path) -> Iterator[Case]:
    """Read tests whose elements carry their expectations."""
    property_names = {"label": "name", "role": "role", "description": "description"}
    wpt_folders = ("accname/name", "html-aam", "wai-aria/role")
    for folder in wpt_folders:
        for file in sorted((wpt / folder).rglob("*.html")):
            page, text = file.relative_to(wpt).as_posix(), file.read_text("utf-8")
            for kind in sorted(set(EXPECTED_ATTRIBUTE.findall(text))):
                yield Case(folder, page, f"[data-expected{kind}]", property_names[kind], "", "")


ATTACH_SHADOW = """<script>for (const template of document.querySelectorAll("template[shadow]")) {
  template.parentElement.attachShadow({ mode: "open" }).append(template.content); template.remove(); }</script>"""


def _read_axe_cases(axe: Path, pages: dict[str, str]) -> Iterator[Case]:
    """Read axe's JavaScript modules, which Node prints as JSON."""
    columns: list[tuple[str, str, Property]] = [
        ("accessible-text", "accessibleText", "name"),
        ("implicit-role", "role", "role"),
    ]
    for file, key, name in columns:
        script = "console.log(JSON.stringify(require(process.argv[1])))"
        command = ["node", "-e", script, str(axe.resolve() / f"{file}.js")]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - a fixed command
        for number, each in enumerate(json.loads(answer.stdout)):
            page = f"axe/{file}-{number}.html"
            pages[page] = f"<body>{each['html']}</body>{ATTACH_SHADOW}"
            for target, value in zip(_to_list(each["target"]), _to_list(each[key]), strict=True):
                yield Case(f"axe {file}", page, target, name, value or "", each["html"][:160])


def _to_list(value: str | list[str] | None) -> list[str | None] | list[str]:
    return value if isinstance(value, list) else [value]
