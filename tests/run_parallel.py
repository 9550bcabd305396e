"""Runs rows of the Makefile's targets side by side: `python -m tests.run_parallel make "types unit" "e2e miniwob"`.

The targets of a row come one after the other, and the first that fails ends its row. Each line of output begins with
the target that it is of.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor


def main(make: str, *rows: str) -> int:
    """Exit code 0: all targets are well; 1: one is not."""
    with ThreadPoolExecutor(len(rows)) as side_by_side:
        failed = list(side_by_side.map(lambda row: run_row(make, row.split()), rows))
    print(f"failed: {', '.join(filter(None, failed))}" if any(failed) else "all passed", flush=True)
    return int(any(failed))


def run_row(make: str, targets: Sequence[str]) -> str:
    """The target that ended the row; empty if none did."""
    return next((target for target in targets if not run_target(make, target)), "")


def run_target(make: str, target: str) -> bool:
    """Runs one target and repeats what it says."""
    begun = time.monotonic()
    command = [make, "--no-print-directory", target]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout
        for line in process.stdout:
            print_line(target, line)
    how = "passed" if process.returncode == 0 else f"failed with exit code {process.returncode}"
    print_line(target, f"{how} after {time.monotonic() - begun:.0f} seconds".encode())
    return process.returncode == 0


def print_line(target: str, line: bytes) -> None:
    """A whole line in one piece, so that those of two targets do not mix."""
    sys.stdout.buffer.write(f"{target}: ".encode() + line.rstrip(b"\n") + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
