"""Run groups of Makefile targets in parallel: `python -m tests.run_parallel make "types unit" "e2e"`.

The targets of a group run one after another, and the first failure ends the group. Each line of output begins with
its target. Skipped parts, and the last lines of a failed target, are repeated at the end, where
people look first.
"""

import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

REPEATED_LINES = 12
SKIPPED = b"skipped "  # begins each line in which a target reports a skipped part


@dataclass
class Target:
    """One target of the Makefile, and the part of its output to repeat at the end."""

    name: str
    skips: list[bytes] = field(default_factory=list)
    last_lines: deque[bytes] = field(default_factory=lambda: deque(maxlen=REPEATED_LINES))
    has_failed: bool = False

    def run(self, make: str) -> None:
        """Run it and pass its output on."""
        begun = time.monotonic()
        command = [make, "--no-print-directory", self.name]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            assert process.stdout
            for line in process.stdout:
                self._read_line(line)
        self.has_failed = process.returncode != 0
        how = f"failed with exit code {process.returncode}" if self.has_failed else "passed"
        self._read_line(f"{how} after {time.monotonic() - begun:.0f} seconds".encode())

    def _read_line(self, line: bytes) -> None:
        self.print_line(line)
        self.last_lines.append(line)
        if line.startswith(SKIPPED):
            self.skips.append(line)

    def print_line(self, line: bytes) -> None:
        """Print a whole line at once, so that lines of two targets do not mix."""
        sys.stdout.buffer.write(f"{self.name}: ".encode() + line.rstrip(b"\n") + b"\n")
        sys.stdout.buffer.flush()


def main(make: str, *rows: str) -> int:
    """Return exit code 0 if all targets succeed, else 1."""
    with ThreadPoolExecutor(len(rows)) as side_by_side:
        targets = [target for row in side_by_side.map(lambda row: run_row(make, row.split()), rows) for target in row]
    failed = [target for target in targets if target.has_failed]
    for target in targets:
        for line in target.skips:
            target.print_line(line)
    for target in failed:
        for line in target.last_lines:
            target.print_line(line)
    skipped = ", except what was skipped" if any(target.skips for target in targets) else ""
    print(f"failed: {', '.join(target.name for target in failed)}" if failed else f"all passed{skipped}", flush=True)
    return int(bool(failed))


def run_row(make: str, names: Sequence[str]) -> Sequence[Target]:
    """Run the targets up to the first failure, and return them."""
    targets: list[Target] = []
    for name in names:
        targets.append(Target(name))
        targets[-1].run(make)
        if targets[-1].has_failed:
            break
    return targets


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
