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

from evals.fuzz.shrink import shrunk
from evals.fuzz.targets import TARGETS, Bounds, Broken, File, Target, check

HANG = 180.0  # seconds for one input after which the child ends
BOUNDS = Bounds()
TURN = 4.0  # minutes of a child
KEPT = 3  # inputs for each problem


def peak() -> int:
    """The most bytes held since the last call; 0 where the system does not say."""
    with suppress(OSError):
        held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        Path("/proc/self/clear_refs").write_text("5")
        return int(held.split()[1]) << 10
    return 0


def failure(target: Target, data: bytes) -> tuple[str, str]:
    """The name of what is wrong and its description; empty if all is well."""
    peak()
    held, used = peak(), time.process_time()
    try:
        check(target, data)
    except Broken as broken:
        return str(broken).partition(":")[0], str(broken)
    except Exception as error:  # noqa: BLE001 - what is raised is what is looked for
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} {Path(frame.filename).stem} {frame.lineno}", traceback.format_exc()
    seconds, more = time.process_time() - used, peak() - held
    if seconds > BOUNDS.seconds * target.reads:
        return "slow", f"slow: {seconds:.1f} s for {len(data)} bytes"
    if more > BOUNDS.memory:
        return "large", f"large: {more >> 20} MB for {len(data)} bytes"
    return "", ""


def child(name: str, kinds: list[str], seed: int, seconds: float, out: Path) -> None:
    """Tries inputs until the time is up; the one at hand stands in `now.bin`."""
    target, rng = File(kinds) if name == "document" else TARGETS[name](), random.Random(seed)
    end, tried, found = time.monotonic() + seconds, 0, Counter()
    while time.monotonic() < end:
        data = target.make(rng)
        (out / "now.bin").write_bytes(data)
        faulthandler.dump_traceback_later(HANG, exit=True)
        kind, told = failure(target, data)
        faulthandler.cancel_dump_traceback_later()
        tried += 1
        if kind and found[kind] < KEPT:
            keep(target, data, kind, told, out)
        found[kind] += bool(kind)
    print(f"{name}, seed {seed}: {tried} inputs, {dict(+found)}", flush=True)


def keep(target: Target, data: bytes, kind: str, told: str, out: Path) -> None:
    """Writes down what failed, as short as it can be made."""
    if kind not in ("slow", "large"):
        data = shrunk(data, lambda shorter: failure(target, shorter)[0] == kind)
        told = failure(target, data)[1] or told
    store(data, kind, told, out)


def store(data: bytes, kind: str, told: str, out: Path) -> None:
    """The input and what was wrong with it."""
    name = f"{kind.replace(' ', '_')}-{hashlib.sha256(data).hexdigest()[:8]}"
    (out / f"{name}.bin").write_bytes(data)
    (out / f"{name}.txt").write_text(f"{told}\n\n{data[:2_000]!r}\n")
    print(f"FOUND {name}: {told.strip().splitlines()[-1][:200]}", flush=True)


def watched(command: list[str], out: Path) -> bool:
    """Runs a child; whether it came to its end. A hang shows where it hung on standard error."""
    now = out / "now.bin"
    now.unlink(missing_ok=True)
    done = subprocess.run(command, check=False)  # noqa: S603
    if done.returncode and now.exists():
        store(now.read_bytes(), "crash", f"crash or hang: the process ended with {done.returncode}", out)
    return not done.returncode


def main() -> None:
    """Children one after another, each with the next seed, until the time is up."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--target", choices=sorted(TARGETS), action="append", help="several take turns; all if none")
    options.add_argument("--kind", action="append", default=[], help="of documents: suffixes as in `evals.fuzz.seeds`")
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path, default=Path("found"))
    options.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.child:
        child(given.target[0], given.kind, given.seed, given.minutes * 60, given.out)
        return
    end, seed, targets = time.monotonic() + given.minutes * 60, given.seed, given.target or sorted(TARGETS)
    while (left := (end - time.monotonic()) / 60) > 0:
        command = [sys.executable, "-m", "evals.fuzz.run", "--child", "--target", targets[seed % len(targets)]]
        command += [f"--kind={kind}" for kind in given.kind]
        command += ["--minutes", str(min(left, TURN)), "--seed", str(seed), "--out", str(given.out)]
        watched(command, given.out)
        seed += 1


if __name__ == "__main__":
    main()
