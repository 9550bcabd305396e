"""The documentation and the code agree."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from support.checkout import CHECKOUT

LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
DOC_PAGES = sorted([*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md")])
# Words that would reveal where and how this was made; split so that this file does not contain them.
FORBIDDEN_WORDS = ["/wo" + "rk/", "../sha" + "red", "pypi" + ".org", "files.python" + "hosted", "registry.npm" + "js"]
# Two files are about a registry, because they search it for people.
SEARCHED = {
    ("src/outrider/search/sources/pypi.py", FORBIDDEN_WORDS[2]),
    ("src/outrider/search/sources/npm.py", FORBIDDEN_WORDS[4]),
}


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", CHECKOUT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["tools.md", "settings.md"])
def test_the_reference_matches_the_code(name: str):
    assert (CHECKOUT / "docs" / "reference" / name).read_text(encoding="utf-8") == anyio.run(
        load_generator().render_pages
    )[name].rstrip() + "\n"


def test_the_shipped_schemas_match_the_functions():
    module = load_generator()
    assert module.SCHEMAS.read_text(encoding="utf-8") == anyio.run(module.render_schemas)


@pytest.mark.parametrize("page", DOC_PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_between_pages_leads_somewhere(page: Path):
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_readme_is_short():
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


def test_no_file_names_a_registry_or_the_machine_it_was_made_on():
    import subprocess

    tracked = subprocess.run(
        ["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    ).stdout.split()
    texts = {
        name: (CHECKOUT / name).read_bytes().decode("utf-8", "replace")
        for name in tracked
        if (CHECKOUT / name).is_file()
    }
    named = {(name, word) for name, text in texts.items() for word in FORBIDDEN_WORDS if word in text}
    assert named - SEARCHED == set()
