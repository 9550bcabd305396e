"""Compare the results of a search with all that it has found before."""

import re

from outrider.watches.difference import Difference

RESULT = re.compile(r"- \[.*\]\((\S+)\)$")


def format_result(title: str, url: str) -> str:
    """Return the line of a result."""
    label = " ".join(title.split()).replace("[", "(").replace("]", ")")
    return f"- [{label}]({url.replace(')', '%29')})"


def compare_results(known: str, found: str) -> Difference | None:
    """Return the results that were never found before; None if there are none.

    Ranks and results that are missing do not count, because engines change them all the time.
    """
    known_urls = set(_list_results(known))
    new = [line for url, line in _list_results(found).items() if url not in known_urls]
    if not new:
        return None
    summary = "1 new result" if len(new) == 1 else f"{len(new)} new results"
    return Difference(summary, "\n".join(f"+ {line.removeprefix('- ')}" for line in new))


def merge_results(known: str, found: str) -> str:
    """Return all results that were ever found, the newest first."""
    max_results = 1_000  # that are remembered
    lines = list((_list_results(found) | _list_results(known)).values())
    return "\n".join(lines[:max_results])


def _list_results(text: str) -> dict[str, str]:
    return {match[1]: line for line in text.splitlines() if (match := RESULT.match(line))}
