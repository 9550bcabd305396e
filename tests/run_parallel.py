"""Runs rows of the Makefile's targets side by side: `python -m tests.run_parallel make "types unit" "e2e miniwob"`.

The targets of a row come one after the other, and the first that fails ends its row. Each line of output begins with
the target that it is of. The last lines of a target that failed are repeated at the end, where people look first.
"""

import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

REPEATED_LINES = 12


def main(make: str, *rows: str) -> int:
    """Exit code 0: all targets are well; 1: one is not."""
    with ThreadPoolExecutor(len(rows)) as side_by_side:
        failed = dict(filter(None, side_by_side.map(lambda row: run_row(make, row.split()), rows)))
    for target, last_lines in failed.items():
        for line in last_lines:
            print_line(target, line)
    print(f"failed: {', '.join(failed)}" if failed else "all passed", flush=True)
    return int(bool(failed))


def run_row(make: str, targets: Sequence[str]) -> tuple[str, Sequence[bytes]] | None:
    """The target that ended the row, with its last lines; None if all are well."""
    for target in targets:
        last_lines = run_target(make, target)
        if last_lines:
            return target, last_lines
    return None


def run_target(make: str, target: str) -> Sequence[bytes]:
    """Runs one target and repeats what it says; its last lines if it failed."""
    begun = time.monotonic()
    last_lines: deque[bytes] = deque(maxlen=REPEATED_LINES)
    command = [make, "--no-print-directory", target]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout
        for line in process.stdout:
            print_line(target, line)
            last_lines.append(line)
    how = "passed" if process.returncode == 0 else f"failed with exit code {process.returncode}"
    outcome = f"{how} after {time.monotonic() - begun:.0f} seconds".encode()
    print_line(target, outcome)
    return [*last_lines, outcome] if process.returncode else []


def print_line(target: str, line: bytes) -> None:
    """A whole line in one piece, so that those of two targets do not mix."""
    sys.stdout.buffer.write(f"{target}: ".encode() + line.rstrip(b"\n") + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
