"""Measure the names and the function sizes of a Python package."""

import ast
import gc
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
# Past participles not ending in "ed" that were once used as names of functions.
IRREGULAR_PARTICIPLES = frozenset(
    "begun bound brought built caught chosen cut dealt done drawn driven fallen felt forgotten found given gone grown"  # noqa: SIM905
    " heard held hidden hurt kept known laid led left lent lost made meant met paid put ridden risen said seen sent"
    " shown sold sought spent stood stuck struck sworn swept taken thought thrown told torn understood won worn wound"
    " woven written".split()
) - {"cut", "put"}  # base forms as well
NOT_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "speed"})
QUESTION_WORD = re.compile(r"(What|Who|Which|How|That|Where|When)\b")
INDENTED_IMPORT = re.compile(r"^ +(import|from) ", re.MULTILINE)
IS_NO = re.compile(r"\bis no [a-z]")


@dataclass(frozen=True)
class Module:
    """A parsed file."""

    name: str
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, since every measure looks at them."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods."""
        return [node for node in self.nodes if isinstance(node, Function)]

    def count_names(self) -> Counter[str]:
        """Count where each name or attribute is used."""
        names = Counter(node.id for node in self.nodes if isinstance(node, ast.Name))
        return names + Counter(node.attr for node in self.nodes if isinstance(node, ast.Attribute))

    def list_constants(self) -> list[str]:
        """List the upper-case names that the module assigns."""
        statements = [node for node in self.tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
        targets = [target for node in statements for target in getattr(node, "targets", None) or [node.target]]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        return [name for name in names if name.lstrip("_").isupper()]


def measure_readability(package: Path) -> dict[str, float]:
    """Return each measure by name, rounded to one decimal; percentages where the name ends in `%`."""
    with _pause_gc():  # garbage collection would take a third of the time
        return _measure_modules([_parse_module(path, package) for path in sorted(package.rglob("*.py"))])


@contextmanager
def _pause_gc() -> Generator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _measure_modules(modules: list[Module]) -> dict[str, float]:
    functions = [function for module in modules for function in module.functions]
    code = sum(_count_code_lines(module.text) for module in modules)
    figures = _measure_names(functions) | _measure_cut(modules, functions)
    figures |= _measure_constants(modules, code) | _measure_prose(modules)
    importing = [module for module in modules if INDENTED_IMPORT.search(module.text)]
    local_imports = sum(_count_imports(function) for module in importing for function in module.functions)
    figures["imports inside functions per 1,000 lines"] = 1000 * local_imports / code
    return {name: round(figure, 1) for name, figure in figures.items()}


def _parse_module(path: Path, package: Path) -> Module:
    text = path.read_text()
    return Module(str(path.relative_to(package)), text, ast.parse(text))


def _measure_names(functions: list[Function]) -> dict[str, float]:
    names = [each.name.strip("_") for each in functions if not _is_dunder(each.name) and not _is_property(each)]
    participles = sum(_is_participle(name.split("_")[0].lower()) for name in names)
    single_words = sum("_" not in name and name.islower() for name in names)
    return {
        "functions named by a participle, %": 100 * participles / len(names),
        "functions of one word, %": 100 * single_words / len(names),
        "mean length of a function's name": statistics.mean(map(len, names)),
    }


def _measure_cut(modules: list[Module], functions: list[Function]) -> dict[str, float]:
    lengths = [_count_lines(function) for function in functions]
    helpers = [helper for module in modules for helper in _find_single_use_helpers(module)]
    return {
        "private helpers with one caller, %": 100 * len(helpers) / len(functions),
        "of these, at most 5 lines": sum(_count_lines(helper) <= 5 for helper in helpers),
        "median lines of a function": statistics.median(lengths),
        "functions over 40 lines, %": 100 * sum(length > 40 for length in lengths) / len(lengths),
    }


def _measure_constants(modules: list[Module], code: int) -> dict[str, float]:
    names = [name for module in modules for name in module.list_constants()]
    files = Counter(name for module in modules for name in set(module.list_constants()))
    return {
        "module constants per 1,000 lines": 1000 * len(names) / code,
        "definitions of constants that five or more files define": sum(count for count in files.values() if count >= 5),
    }


def _measure_prose(modules: list[Module]) -> dict[str, float]:
    docstrings = [ast.get_docstring(module.tree) or "" for module in modules]
    classes: defaultdict[str, set[str]] = defaultdict(set)
    messages = 0
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(module.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                messages += bool(IS_NO.search(node.value))
    shared = sum(len(files) > 1 for files in classes.values())
    return {
        "class names of more than one module, %": 100 * shared / max(1, len(classes)),
        "module docstrings that begin with a question word, %": 100
        * sum(bool(QUESTION_WORD.match(text)) for text in docstrings)
        / len(modules),
        "texts with 'is no'": messages,
    }


def _find_single_use_helpers(module: Module) -> Iterator[Function]:
    uses = module.count_names()
    for function in module.functions:
        private = function.name.startswith("_") and not _is_dunder(function.name)
        if private and not function.decorator_list and uses[function.name] == 1:
            yield function


def _is_dunder(name: str) -> bool:
    return name.startswith("__")


def _is_property(function: Function) -> bool:
    names = {getattr(each, "id", getattr(each, "attr", "")) for each in function.decorator_list}
    return bool(names & {"property", "cached_property", "setter"})


def _is_participle(word: str) -> bool:
    regular = word.endswith("ed") and len(word) > 4 and word not in NOT_PARTICIPLES
    return regular or word in IRREGULAR_PARTICIPLES


def _count_lines(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _count_imports(function: Function) -> int:
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(function))


def _count_code_lines(text: str) -> int:
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)
