"""Fuzz in a child process, which is replaced when it crashes or hangs."""

import argparse
import faulthandler
import hashlib
import random
import subprocess
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

from evals.fuzz.shrink import shrink_input
from evals.fuzz.targets import TARGETS, Bounds, BrokenInvariant, DocumentTarget, Target, check_input

DEFAULT_BOUNDS = Bounds()


def read_peak_bytes() -> int:
    """Return the peak memory in bytes since the last call, 0 if unknown."""
    with suppress(OSError):
        held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        Path("/proc/self/clear_refs").write_text("5")
        return int(held.split()[1]) << 10
    return 0


def find_failure(target: Target, data: bytes) -> tuple[str, str]:
    """Return the name and the description of a failure, or empty texts."""
    read_peak_bytes()
    held, used = read_peak_bytes(), time.process_time()
    try:
        check_input(target, data)
    except BrokenInvariant as broken:
        return str(broken).partition(":")[0], str(broken)
    except Exception as error:  # noqa: BLE001 - what is raised is what is looked for
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} {Path(frame.filename).stem} {frame.lineno}", traceback.format_exc()
    seconds, more = time.process_time() - used, read_peak_bytes() - held
    if seconds > DEFAULT_BOUNDS.seconds * target.reads:
        return "slow", f"slow: {seconds:.1f} s for {len(data)} bytes"
    if more > DEFAULT_BOUNDS.memory:
        return "large", f"large: {more >> 20} MB for {len(data)} bytes"
    return "", ""


def run_child(name: str, kinds: list[str], seed: int, seconds: float, out: Path) -> None:
    """Try inputs until the time is up; `now.bin` has the current one."""
    max_inputs_per_problem = 3  # inputs for each problem
    hang_timeout_s = 180.0  # for one input, after which the child ends
    target, rng = DocumentTarget(kinds) if name == "document" else TARGETS[name](), random.Random(seed)
    end, tried, found = time.monotonic() + seconds, 0, Counter()
    while time.monotonic() < end:
        data = target.make_input(rng)
        (out / "now.bin").write_bytes(data)
        faulthandler.dump_traceback_later(hang_timeout_s, exit=True)
        kind, told = find_failure(target, data)
        faulthandler.cancel_dump_traceback_later()
        tried += 1
        if kind and found[kind] < max_inputs_per_problem:
            shrink_and_store(target, data, kind, told, out)
        found[kind] += bool(kind)
    print(f"{name}, seed {seed}: {tried} inputs, {dict(+found)}", flush=True)


def shrink_and_store(target: Target, data: bytes, kind: str, told: str, out: Path) -> None:
    """Store a failing input, as short as it can be made."""
    if kind not in ("slow", "large"):
        data = shrink_input(data, lambda shorter: find_failure(target, shorter)[0] == kind)
        told = find_failure(target, data)[1] or told
    store_input(data, kind, told, out)


def store_input(data: bytes, kind: str, told: str, out: Path) -> None:
    """Store the input and a description of its failure."""
    name = f"{kind.replace(' ', '_')}-{hashlib.sha256(data).hexdigest()[:8]}"
    (out / f"{name}.bin").write_bytes(data)
    (out / f"{name}.txt").write_text(f"{told}\n\n{data[:2_000]!r}\n")
    print(f"FOUND {name}: {told.strip().splitlines()[-1][:200]}", flush=True)


def run_command(command: list[str], out: Path) -> bool:
    """Run a child; return whether it succeeded. A hang shows its stack on stderr."""
    now = out / "now.bin"
    now.unlink(missing_ok=True)
    done = subprocess.run(command, check=False)  # noqa: S603
    if done.returncode and now.exists():
        store_input(now.read_bytes(), "crash", f"crash or hang: the process ended with {done.returncode}", out)
    return not done.returncode


def main() -> None:
    """Run children one after another, each with the next seed, until the time is up."""
    max_child_minutes = 4.0  # minutes of a child
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--target", choices=sorted(TARGETS), action="append", help="several take turns; all if none")
    options.add_argument("--kind", action="append", default=[], help="of documents: suffixes as in `evals.fuzz.seeds`")
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path, default=Path("found"))
    options.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.child:
        run_child(arguments.target[0], arguments.kind, arguments.seed, arguments.minutes * 60, arguments.out)
        return
    end, seed, targets = time.monotonic() + arguments.minutes * 60, arguments.seed, arguments.target or sorted(TARGETS)
    while (left := (end - time.monotonic()) / 60) > 0:
        command = [sys.executable, "-m", "evals.fuzz.run", "--child", "--target", targets[seed % len(targets)]]
        command += [f"--kind={kind}" for kind in arguments.kind]
        command += ["--minutes", str(min(left, max_child_minutes)), "--seed", str(seed), "--out", str(arguments.out)]
        run_command(command, arguments.out)
        seed += 1


if __name__ == "__main__":
    main()
