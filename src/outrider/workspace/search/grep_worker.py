"""Search files with Python's `re` in a separate process.

It can be killed, because some patterns never finish.

Started as a script, with nothing but the standard library. The first line of its input is the request as JSON; the rest
is the text, if a text is to be searched. Each line of its output has all matches of a file: `[[path, line number, text,
column], …]`.
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
    """Read the request and report all matches."""
    max_memory_bytes = 2_000_000_000  # of address space, as a line may be as long as its file
    resource.setrlimit(resource.RLIMIT_AS, (max_memory_bytes, max_memory_bytes))
    request = json.loads(sys.stdin.buffer.readline())
    warnings.simplefilter("ignore")
    pattern = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0)
    if request["text"]:
        lines = io.TextIOWrapper(sys.stdin.buffer, "utf-8", "surrogatepass", newline="\n")
        report_matches("", pattern, lines, request["most"])
        return
    for path in [request["file"]] if request["file"] else iter_files(".", hidden=request["hidden"]):
        if not request["names"] or any(fnmatch.fnmatchcase(os.path.basename(path), name) for name in request["names"]):  # noqa: PTH119
            search_file(path, pattern, request["most"])


def iter_files(folder: str, *, hidden: bool) -> Iterator[str]:
    """Yield regular files below a folder, ordered by path; links are not followed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") and not hidden:
            continue
        path = entry.name if folder == "." else f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from iter_files(path, hidden=hidden)
        elif entry.is_file(follow_symlinks=False):
            yield path


def search_file(path: str, pattern: re.Pattern[str], max_lines: int) -> None:
    """Report the matches in one file, unless it is binary."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib would be one more import
            encoding = detect_encoding(file.peek(4)[:4])
            if encoding != "utf-16" and has_nul(file):
                return
            file.seek(0)
            with io.TextIOWrapper(file, encoding, "replace", newline="\n") as lines:
                report_matches(path, pattern, lines, max_lines)
    except (OSError, MemoryError):
        return


def report_matches(path: str, pattern: re.Pattern[str], lines: Iterable[str], max_lines: int) -> None:
    """Write the first matching lines to standard output."""
    matches: list[tuple[str, int, str, int]] = []
    for number, line in enumerate(lines, 1):
        content = line.removesuffix("\n").removesuffix("\r")
        if match := pattern.search(content):
            matches.append((path, number, content, match.start()))
            if len(matches) >= max_lines:
                break
    if matches:
        sys.stdout.write(json.dumps(matches) + "\n")
        sys.stdout.flush()


def detect_encoding(first: bytes) -> str:
    """Return the encoding of a file that begins with these bytes."""
    byte_order_marks = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    return next((name for mark, name in byte_order_marks if first.startswith(mark)), "utf-8")


def has_nul(file: io.BufferedReader) -> bool:
    """Return whether a file contains a NUL byte, which makes it binary."""
    while block := file.read(1 << 20):
        if b"\0" in block:
            return True
    return False


if __name__ == "__main__":
    main()
