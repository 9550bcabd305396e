"""Searches files with Python's own `re`, as a process that can be killed: some patterns never come to an end.

Started as a script, with nothing but the standard library. The first line of its input is the order, as JSON; the rest
is the text where a text is to be searched. Each line of its output has all of a
file's lines: `[[path, line number, text, column], …]`.
"""

import fnmatch
import io
import json
import os
import re
import resource
import sys
import warnings
from collections.abc import Iterable, Iterator


def main() -> None:
    """Does what is ordered."""
    max_memory_bytes = 2_000_000_000  # bytes of address space: a line may be as long as its file
    resource.setrlimit(resource.RLIMIT_AS, (max_memory_bytes, max_memory_bytes))
    order = json.loads(sys.stdin.buffer.readline())
    warnings.simplefilter("ignore")
    pattern = re.compile(order["pattern"], re.IGNORECASE if order["ignore_case"] else 0)
    if order["text"]:
        lines = io.TextIOWrapper(sys.stdin.buffer, "utf-8", "surrogatepass", newline="\n")
        report_matches("", pattern, lines, order["most"])
        return
    for path in [order["file"]] if order["file"] else iter_files(".", hidden=order["hidden"]):
        if not order["names"] or any(fnmatch.fnmatchcase(os.path.basename(path), name) for name in order["names"]):  # noqa: PTH119
            search_file(path, pattern, order["most"])


def iter_files(folder: str, *, hidden: bool) -> Iterator[str]:
    """Regular files below a folder, in the order of their paths; links are not followed."""
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.name.startswith(".") and not hidden:
            continue
        path = entry.name if folder == "." else f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from iter_files(path, hidden=hidden)
        elif entry.is_file(follow_symlinks=False):
            yield path


def search_file(path: str, pattern: re.Pattern[str], most: int) -> None:
    """Says what matches in one file, unless it is binary."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - what the process starts with is all it needs
            encoding = detect_encoding(file.peek(4)[:4])
            if encoding != "utf-16" and has_nul(file):
                return
            file.seek(0)
            with io.TextIOWrapper(file, encoding, "replace", newline="\n") as lines:
                report_matches(path, pattern, lines, most)
    except (OSError, MemoryError):
        return


def report_matches(path: str, pattern: re.Pattern[str], lines: Iterable[str], most: int) -> None:
    """Says the first lines that match."""
    found: list[tuple[str, int, str, int]] = []
    for number, line in enumerate(lines, 1):
        plain = line.removesuffix("\n").removesuffix("\r")
        if match := pattern.search(plain):
            found.append((path, number, plain, match.start()))
            if len(found) >= most:
                break
    if found:
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


def detect_encoding(first: bytes) -> str:
    """How a file with these first bytes is read."""
    byte_order_marks = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    return next((name for mark, name in byte_order_marks if first.startswith(mark)), "utf-8")


def has_nul(file: io.BufferedReader) -> bool:
    """Whether a file is binary."""
    while block := file.read(1 << 20):
        if b"\0" in block:
            return True
    return False


if __name__ == "__main__":
    main()
