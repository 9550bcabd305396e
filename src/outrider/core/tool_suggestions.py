"""Suggest tools that a caller may have meant and can call."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches

from outrider.core.parameter_names import normalize_name

# Words of tool names that mean the same, so that `complete_todo` is found as `mark_todo`.
SAME_WORDS = (
    frozenset({"mark", "complete", "finish", "done", "check"}),
    frozenset({"remove", "delete", "rm"}),
    frozenset({"add", "create", "new", "make"}),
    frozenset({"update", "change", "edit", "modify", "set"}),
    frozenset({"list", "ls", "show"}),
    frozenset({"fetch", "get", "read", "open", "view"}),
    frozenset({"execute", "run", "exec"}),
    frozenset({"directory", "folder", "dir"}),
    frozenset({"navigate", "go", "goto"}),
    frozenset({"todo", "task"}),
)


def suggest_tools(name: str, offered: Collection[str], usual_names: Mapping[str, str]) -> str:
    """Return a hint after an unknown name: the most similar tools, else some of the offered ones.

    Args:
        name: The unknown name.
        offered: The names of the tools that the caller has.
        usual_names: By tool, its other names, separated by spaces.
    """
    max_listed_chars = 240
    bare = re.sub(r"^mcp__.*?__", "", name)
    requested_names = {normalize_name(bare), _normalize_without_product(bare)}
    known = [
        each
        for each in offered
        if any(
            requested_names & {normalize_name(usual), _normalize_without_product(usual)}
            for usual in (each, *usual_names.get(each, "").split())
        )
    ]
    words = _split_words(bare)
    shared = {each: len(words & _split_words(each)) / len(words | _split_words(each)) for each in offered}
    similar = sorted((each for each in offered if shared[each] >= 0.5), key=lambda each: -shared[each])
    if close := known or similar or get_close_matches(bare, offered, n=3):
        return f"did you mean {' or '.join(close[:3])}?"
    listed = ", ".join(offered)
    if len(listed) > max_listed_chars:
        listed = f"{listed[:max_listed_chars].rpartition(',')[0]} …; tools/list has all {len(offered)}"
    return f"the tools are {listed}" if offered else "there are no tools; continue without"


def remove_tool_names(hint: str, withheld: Collection[str]) -> str:
    """Return the hint without clauses that name a tool that the caller lacks.

    A name that is an ordinary word (`search`, `grep`) is not taken for a tool's.
    """
    names = {name for name in withheld if "_" in name or not name.islower()}
    if names.isdisjoint(re.findall(r"\w+", hint)):
        return hint
    clauses = [clause for clause in re.split(r"(?<=[;,]) ", hint) if names.isdisjoint(re.findall(r"\w+", clause))]
    return " ".join(clauses).removesuffix(";").removesuffix(",") or "choose another tool of those that you have"


def _normalize_without_product(name: str) -> str:
    """Return a name without the product that other servers put before it: `puppeteer_click`."""
    products = "brave|browser|desktop|exa|firecrawl|fs|page|perplexity|playwright|puppeteer|selenium|tavily"
    return normalize_name(re.sub(rf"^(?:{products})[_-]", "", name))


def _split_words(name: str) -> set[str]:
    """Return the words of a snake or camel case name, with synonyms unified."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    return {next((min(same) for same in SAME_WORDS if word in same), word) for word in words} or {""}
