"""A program that reads one page from its standard input and prints the cost, for `prefork.build_command`.

Ordinary pages are read before, so that everything that all pages need is loaded when measuring begins.
"""

import json
import os
import sys
import time
from pathlib import Path

from outrider.pages.excerpt import find_excerpts
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import find_reader

PARAGRAPHS_HTML = b"<p>Hello, words enough to be a paragraph of an article.</p>" * 50 + "é".encode()
ORDINARY_PAGE_HTML = b"<title>x</title><nav>y</nav><article>" + PARAGRAPHS_HTML


def count_excerpts(body: bytes) -> int:
    """Return the number of excerpts of a page."""
    mime = detect_mime_type("text/html" if body.startswith(b"<!DOCTYPE") else "", body)
    document = find_reader(mime).read(ReaderInput(body, "https://a.b/", mime))
    return len(find_excerpts(document.markdown, "hello text x", max_tokens=500))


def measure_peak_memory_mb() -> float:
    """Return the peak memory of this process and its children, in megabytes."""
    pids = [os.getpid(), *map(int, Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())]
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def run(_: list[str]) -> None:
    assert count_excerpts(ORDINARY_PAGE_HTML)
    body = sys.stdin.buffer.read()
    before, begun = measure_peak_memory_mb(), time.process_time()
    count_excerpts(body)
    print(json.dumps({"megabytes": measure_peak_memory_mb() - before, "seconds": time.process_time() - begun}))


assert count_excerpts(ORDINARY_PAGE_HTML)
