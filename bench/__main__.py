"""Run the parts, print their tables and write them to docs/benchmarks.md."""

import argparse
import importlib
import platform
import sys
from collections.abc import Sequence

from bench.peers import ROOT
from bench.tables import Part

PARTS = (
    "cold_start", "call_overhead", "reading", "extraction", "browser", "tokens", "agents", "agent_tokens",
    "sandbox", "content", "grep", "dashboard", "relay", "replicas", "flows", "watches", "terminal",
)  # fmt: skip
REPORT_FILE = ROOT / "docs" / "benchmarks.md"


PAGE_HEAD = """# Benchmarks

This page compares Outrider with its peers; all programs took turns in one run. Read the ratios, not the absolute times:
ratios hold on other machines. The baseline of each table has the ratio 1.00; less is better unless noted. Repeat
everything with `make bench`, or one part with `make bench PARTS=cold_start`. The peers are installed into
`.cache/bench` in the versions that `bench/peers.txt` and `bench/package-lock.json` pin. Each run rewrites its part of
this page.
"""


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; all if none is named")
    options.add_argument("--quick", action="store_true", help="few turns: whether it runs, not how fast it is")
    arguments = options.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        options.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    found = [run_part(name, quick=arguments.quick) for name in arguments.parts or PARTS]
    if not arguments.quick:
        REPORT_FILE.write_text(build_report(REPORT_FILE.read_text() if REPORT_FILE.exists() else "", found))
    return 0


def build_report(before: str, found: Sequence[Part]) -> str:
    """Return the page with new sections for these parts; other sections stay as they were."""
    sections = {text.partition("\n")[0]: text.strip() for text in before.split("\n## ")[1:]}
    sections |= {part.title: part.render_markdown().removeprefix("## ") for part in found}
    return (
        "\n\n".join([f"{PAGE_HEAD}\n{describe_machine()}", *(f"## {section}" for section in sections.values())]) + "\n"
    )


def run_part(name: str, *, quick: bool) -> Part:
    """Run one part and print it at once."""
    part = importlib.import_module(f"bench.{name}").run(quick=quick)
    print(f"{part.render_markdown()}\n", flush=True)
    return part


def describe_machine() -> str:
    """Describe the machine, as far as it affects ratios."""
    return (
        f"Last run: {platform.system()} on {platform.machine()}, Python {platform.python_version()}, a shared machine."
    )


if __name__ == "__main__":
    sys.exit(main())
