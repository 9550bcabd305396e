"""Runs the parts, prints their tables and puts them into docs/benchmarks.md."""

import argparse
import importlib
import platform
import sys
from collections.abc import Sequence

from bench.figures import Part
from bench.peers import ROOT

PARTS = (
    "cold_start", "call_overhead", "reading", "extraction", "browser", "tokens", "agents", "agent_tokens",
    "sandbox", "content", "grep", "dashboard", "relay", "replicas", "flows", "watches", "terminal",
)  # fmt: skip
REPORT = ROOT / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Outrider compared with its peers; all programs took turns in one run. Read the ratios, not the absolute times: ratios
hold on other machines. The yardstick of each table has the ratio 1.00; less is better unless noted. Repeat everything
with `make bench`, or one part with `make bench PARTS=cold_start`. The peers are installed into `.cache/bench` in the
versions that `bench/peers.txt` and `bench/package-lock.json` pin. Each run rewrites its part of this page.
"""


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; all if none is named")
    options.add_argument("--quick", action="store_true", help="few turns: whether it runs, not how fast it is")
    given = options.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        options.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    found = [measure(name, quick=given.quick) for name in given.parts or PARTS]
    if not given.quick:
        REPORT.write_text(report(REPORT.read_text() if REPORT.exists() else "", found))
    return 0


def report(before: str, found: Sequence[Part]) -> str:
    """The page with the sections of these parts new, and the others as they were."""
    sections = {text.partition("\n")[0]: text.strip() for text in before.split("\n## ")[1:]}
    sections |= {part.title: part.text().removeprefix("## ") for part in found}
    return "\n\n".join([f"{HEAD}\n{machine()}", *(f"## {section}" for section in sections.values())]) + "\n"


def measure(name: str, *, quick: bool) -> Part:
    """One part, printed as soon as it is there."""
    part = importlib.import_module(f"bench.{name}").run(quick=quick)
    print(f"{part.text()}\n", flush=True)
    return part


def machine() -> str:
    """What it ran on, as far as it matters for ratios."""
    return (
        f"Last run: {platform.system()} on {platform.machine()}, Python {platform.python_version()}, a shared machine."
    )


if __name__ == "__main__":
    sys.exit(main())
