"""A program that reads one page from its standard input and says what that cost, for `warmed.command`.

An ordinary page is read before, at import and again: what every page needs is there when measuring begins.
"""

import json
import os
import sys
import time
from pathlib import Path

from outrider.pages.excerpt import excerpts
from outrider.pages.reader import Source
from outrider.pages.registry import reader_for
from outrider.pages.sniffing.sniff import sniff

WORDS = b"<p>Hello, words enough to be a paragraph of an article.</p>" * 50 + "é".encode()
ORDINARY = b"<title>x</title><nav>y</nav><article>" + WORDS


def read(body: bytes) -> int:
    """The number of excerpts of what is read."""
    mime = sniff("", body)
    document = reader_for(mime).read(Source(body, "https://a.b/", mime))
    return len(excerpts(document.markdown, "hello text x", max_tokens=500))


def resident() -> float:
    """The most memory so far, of this process and its children, in megabytes."""
    pids = [os.getpid(), *map(int, Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())]
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def run(_: list[str]) -> None:
    assert read(ORDINARY)
    body = sys.stdin.buffer.read()
    before, begun = resident(), time.process_time()
    read(body)
    print(json.dumps({"megabytes": resident() - before, "seconds": time.process_time() - begun}))


assert read(ORDINARY)
