"""The locked versions match pyproject.toml, and do not reveal where they come from."""

import re
import tomllib
from typing import Any

import pytest

from support.checkout import CHECKOUT

LOCKED = ("requirements/run.txt", "requirements/dev.txt")
LOCK_FILES = (
    *LOCKED,
    "requirements/uv.txt",
    "requirements/supply.txt",
    "requirements/publish.txt",
    "bench/peers.txt",
    "bench/package-lock.json",
    "tests/conformance/package-lock.json",
)
PROJECT: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())


def normalize_name(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    assert match
    return re.sub(r"[-_.]+", "-", match[0].lower())


def list_locked(path: str) -> set[str]:
    return {normalize_name(line) for line in (CHECKOUT / path).read_text().splitlines() if "==" in line}


@pytest.mark.parametrize("path", LOCKED)
def test_everything_that_is_needed_to_run_is_locked(path: str):
    wanted = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["build"]
    assert {normalize_name(each) for each in wanted} <= list_locked(path), "run: make lock"


def test_every_extra_and_every_tool_is_locked():
    extras = [each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra]
    tools = [each for each in PROJECT["dependency-groups"]["dev"] if isinstance(each, str)]
    assert {normalize_name(each) for each in extras + tools} <= list_locked("requirements/dev.txt"), "run: make lock"
    programs = {normalize_name(each) for each in PROJECT["dependency-groups"]["supply"]}
    assert programs <= list_locked("requirements/supply.txt"), "run: make lock"
    programs = {normalize_name(each) for each in PROJECT["dependency-groups"]["publish"]}
    assert programs <= list_locked("requirements/publish.txt"), "run: make lock"


@pytest.mark.parametrize(
    "path",
    [f"requirements/{name}.txt" for name in ("run", "dev", "supply", "publish", "uv")],
)
def test_every_locked_version_is_pinned_by_its_hash(path: str):
    text = (CHECKOUT / path).read_text()
    packages = [block for block in re.split(r"\n(?=\S)", text) if "==" in block]
    assert packages
    assert all("--hash=sha256:" in package for package in packages)


@pytest.mark.parametrize("path", LOCK_FILES)
def test_locks_contain_no_index_address(path: str):
    text = (CHECKOUT / path).read_text()
    assert not re.search(
        r'"resolved"|--(extra-)?index-url|--find-links|^\S+ @ |\.(whl|tgz|tar\.gz)\b', text, re.MULTILINE
    )
