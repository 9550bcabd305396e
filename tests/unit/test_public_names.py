"""Public names are documented, and samples in docstrings are valid code."""

import ast
import inspect
import pickle
import re
from pathlib import Path
from textwrap import dedent

import pytest

import outrider
from support.checkout import CHECKOUT

FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES_WITH_SAMPLES = [
    page for page in (CHECKOUT / "README.md", *sorted(CHECKOUT.glob("docs/**/*.md"))) if FENCE.search(page.read_text())
]
ERRORS = ("InvalidInput", "NotConfigured", "NotFound", "Refused", "Unavailable")


def list_samples(documentation: str) -> list[str]:
    """Return the indented passages, which are samples."""
    passages = re.split(r"\n(?=\S)", documentation)
    return [dedent(body) for _, _, body in (passage.partition("\n\n") for passage in passages) if body.strip()]


def list_imported_names(code: str) -> list[str]:
    """List a sample's imports from the package; the sample may use `await` at the top level."""
    tree = compile(code, "sample", "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    modules = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "outrider"]
    return [each.name for node in modules for each in node.names]


def test_every_public_name_is_listed_and_exists():
    assert set(outrider.__all__) <= set(dir(outrider))
    assert [name for name in outrider.__all__ if not hasattr(outrider, name)] == []


@pytest.mark.parametrize("name", outrider.__all__)
def test_every_public_name_has_a_docstring(name: str):
    assert len(inspect.getdoc(getattr(outrider, name)) or "") > 20


def test_the_samples_in_the_package_docstring_are_valid_code():
    found = list_samples(inspect.getdoc(outrider) or "")
    assert [list_imported_names(each) for each in found] == [["extract"], ["open_app"], ["connect"]]


@pytest.mark.parametrize("page", PAGES_WITH_SAMPLES, ids=lambda page: page.name)
def test_the_samples_in_the_documentation_import_existing_names(page: Path):
    for code in FENCE.findall(page.read_text()):
        assert [name for name in list_imported_names(code) if name != "sdk" and name not in outrider.__all__] == []


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_survives_pickling_with_all_its_fields(kind: str):
    error = getattr(outrider, kind)("no seed", hint="choose another", code="seedless", details={"seeds": 2})
    again = pickle.loads(pickle.dumps(error))
    assert again.to_dict() == error.to_dict()


def test_a_document_survives_pickling_unchanged():
    document = outrider.extract(
        "<title>Tides</title><p>High water at six, <a href=/b>low</a> at noon.", url="https://a.b"
    )
    assert pickle.loads(pickle.dumps(document)) == document
    assert outrider.Document.from_dict(document.to_dict()) == document
