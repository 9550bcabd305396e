"""Compare the results of a search with all of its earlier results."""

import re

from outrider.watches.difference import Difference

RESULT = re.compile(r"- \[.*\]\((\S+)\)$")


def format_result(title: str, url: str) -> str:
    """Return a result as one line."""
    label = " ".join(title.split()).replace("[", "(").replace("]", ")")
    return f"- [{label}]({url.replace(')', '%29')})"


def compare_results(known: str, found: str) -> Difference | None:
    """Return the results that are new; None if there are none.

    Changed ranks and missing results do not count, because engines change them all the time.
    """
    known_urls = set(_list_results(known))
    new = [line for url, line in _list_results(found).items() if url not in known_urls]
    if not new:
        return None
    summary = "1 new result" if len(new) == 1 else f"{len(new)} new results"
    return Difference(summary, "\n".join(f"+ {line.removeprefix('- ')}" for line in new))


def merge_results(known: str, found: str) -> str:
    """Return all results that were ever found, the newest first."""
    max_results = 1_000  # to remember
    lines = list((_list_results(found) | _list_results(known)).values())
    return "\n".join(lines[:max_results])


def _list_results(text: str) -> dict[str, str]:
    return {match[1]: line for line in text.splitlines() if (match := RESULT.match(line))}
