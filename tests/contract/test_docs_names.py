"""Every name in the documentation exists: settings, commands, modules, files, headings."""

import importlib
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from pydantic import BaseModel

from outrider.cli import outrider
from outrider.settings import Settings
from support.checkout import CHECKOUT

PAGES_WITH_NAMES = sorted(
    [*(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *CHECKOUT.glob("docs/**/*.md")]
)
SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"[a-z]\w*(?:\.[a-z]\w*)+")
VARIABLE = re.compile(r"OUTRIDER_([A-Z][A-Z_]*[A-Z])")
MODULE = re.compile(r"outrider(?:\.\w+)+")
FILE = re.compile(r"[\w/]+\.(?:py|npz)")
PLACE = re.compile(r"[a-z_]+(?:/[a-z_]+)+(?:\.py)?")
COMMAND = re.compile(r"(?:^|(?<!from)[\s(])outrider (?=[a-z])([^|;&#…\n]*)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
ANCHOR = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
# Entry points, telemetry names and files of the data folder look like modules.
NO_MODULES = re.compile(
    r"outrider\.(?:\w+_providers|embedders|readers|toolsets?|result_pages|tool|run|runs|search|db|work)\b"
)
OF_DEVELOPERS = {"WCXB", "KILLS"}
OF_FLOWS = re.compile(r"FLOW(_[A-Z0-9_]+)?")  # each flow names its own variables for secrets


def is_setting(name: str, model: Any = Settings) -> bool:
    """Whether a dotted name is one of the settings; below an object by name, any name is."""
    first, _, rest = name.partition(".")
    if not (isinstance(model, type) and issubclass(model, BaseModel)) or first not in model.model_fields:
        return False
    annotation = model.model_fields[first].annotation
    inner = list(_models(annotation))
    if not rest or ("dict" in str(annotation) and ("." not in rest or not inner)):
        return True
    return any(is_setting(rest.partition(".")[2] if "dict" in str(annotation) else rest, each) for each in inner)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)


def list_code(page: Path) -> list[str]:
    """Each span and each line of a fence."""
    text = page.read_text(encoding="utf-8")
    return [*SPAN.findall(FENCE.sub("", text)), *(line for each in FENCE.findall(text) for line in each.splitlines())]


@cache
def list_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return ["/" + name for name in listed.stdout.splitlines()]


def is_module(name: str) -> bool:
    path, _, last = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return bool(path) and hasattr(importlib.import_module(path), last)
    return True


def unknown_to(command: click.Command, words: list[str]) -> list[str]:
    """Return the subcommand or the options that a command does not have."""
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        return unknown_to(found, words[1:]) if found else [words[0]]
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {
        "-h",
        "--help",
        "--version",
    }
    return [
        word
        for word in words
        if re.fullmatch(r"--?[a-z][\w-]*", word.partition("=")[0]) and word.partition("=")[0] not in known
    ]


def find_unknown_names(text: str) -> Iterator[str]:
    """Finds the names in a page's code that do not exist."""
    whole = [text] if "." in text else []
    yield from (each for each in whole if SETTING.fullmatch(each) and is_meant(each) and not is_setting(each))
    yield from (
        each for each in whole if FILE.fullmatch(each) and not any(f.endswith(f"/{each}") for f in list_files())
    )
    yield from (each for each in whole if MODULE.fullmatch(each) and not NO_MODULES.match(each) and not is_module(each))
    for each in {name for name in VARIABLE.findall(text) if not OF_FLOWS.fullmatch(name)} - OF_DEVELOPERS:
        yield from [] if is_setting(each.lower().replace("__", ".")) else [each]
    for line in COMMAND.findall(text):
        yield from unknown_to(outrider, split_words(line))


def is_meant(name: str) -> bool:
    """Whether a dotted name is meant as a setting, not as a file."""
    sections = {section for section, field in Settings.model_fields.items() if any(_models(field.annotation))}
    return name.partition(".")[0] in sections and not name.endswith((".py", ".json", ".jsonl", ".db", ".npz"))


@pytest.mark.parametrize("page", PAGES_WITH_NAMES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_name_on_a_page_exists(page: Path):
    assert [name for text in list_code(page) for name in find_unknown_names(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "pages.cache_byte",
        "pages/content/walk.py",
        "outrider.pages.storage",
        "OUTRIDER_PAGES__AGE",
        "outrider fetch --soon",
    ],
)
def test_unknown_names_are_detected(text: str):
    assert list(find_unknown_names(text))


def split_words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation that continues elsewhere
        return line.split()


def test_every_path_in_the_architecture_page_exists():
    named = [
        each
        for each in list_code(CHECKOUT / "docs" / "architecture.md")
        if PLACE.fullmatch(each) and each != "tools/call"
    ]
    assert len(named) > 20
    homes = (CHECKOUT, CHECKOUT / "src" / "outrider", CHECKOUT / "src" / "outrider" / "pages")
    assert [
        each for each in named if not any((home / each).exists() or (home / f"{each}.py").exists() for home in homes)
    ] == []


@pytest.mark.parametrize("page", PAGES_WITH_NAMES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_to_a_heading_has_a_target(page: Path):
    targets = [
        ((page.parent / path) if path else page, name)
        for path, name in ANCHOR.findall(page.read_text(encoding="utf-8"))
    ]
    assert [
        name for path, name in targets if path.suffix == ".md" and path.exists() and name not in list_headings(path)
    ] == []


def list_headings(page: Path) -> set[str]:
    """Return the anchors that code hosts generate for a page's headings."""
    said = [
        re.sub(r"[`*]", "", each).strip().lower()
        for each in HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    ]
    return {re.sub(r"[^\w\- ]", "", each).replace(" ", "-") for each in said}
