"""Run one extractor as a separate process. Imports nothing of the package.

    python extraction_worker.py trafilatura

In: {"html": base64, "url"}. Out: {"ms": CPU milliseconds for the Markdown, "markdown", "text"}; the text is not timed
if an extractor needs another call for it. The first output is {"ready": CPU seconds from here to the first page}. An
empty line requests {"peak": megabytes}.
"""

import base64
import json
import logging
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

Extract = Callable[[bytes, str], str]


def load_outrider() -> tuple[Extract, Extract | None]:
    import outrider as library

    last = {}

    def extract_markdown(html: bytes, url: str) -> str:
        document = library.extract(html, url=url)
        last[0] = document.text
        return document.markdown

    return extract_markdown, lambda _html, _url: last[0]


def load_trafilatura() -> tuple[Extract, Extract | None]:
    import trafilatura as library

    def extract_markdown(html: bytes, url: str) -> str:
        return (
            library.extract(html, url=url or None, output_format="markdown", with_metadata=True, include_links=True)
            or ""
        )

    return extract_markdown, lambda html, url: library.extract(html, url=url or None) or ""


def load_readability_lxml() -> tuple[Extract, Extract | None]:
    import markdownify  # ty: ignore[import-not-found]
    import readability  # ty: ignore[import-not-found]

    def extract_markdown(html: bytes, url: str) -> str:
        page = readability.Document(html, url=url or None)
        return f"# {page.short_title()}\n\n" + markdownify.markdownify(page.summary(), heading_style="ATX")

    return extract_markdown, None


def load_resiliparse() -> tuple[Extract, Extract | None]:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    def extract_text(html: bytes, _url: str) -> str:
        return extract_plain_text(
            bytes_to_str(html, detect_encoding(html) or "utf-8"), main_content=True, alt_texts=False
        )

    return extract_text, extract_text


EXTRACTORS = {
    "outrider": load_outrider,
    "trafilatura": load_trafilatura,
    "readability_lxml": load_readability_lxml,
    "resiliparse": load_resiliparse,
}


def read_peak_memory() -> float:
    """Return the peak megabytes, as the system counts them for this program alone."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def try_extract(extract: Extract, html: bytes, url: str) -> str:
    """Return the extracted text, or "" if the extractor fails."""
    try:
        return extract(html, url) or ""
    except Exception:  # noqa: BLE001 - a page that an extractor fails on counts as empty
        return ""


def main(name: str) -> None:
    small_page = (
        b"<html><body><article><h1>Title</h1><p>Some words of a small page, to begin with.</p></article></body></html>"
    )
    started = time.process_time()
    markdown, text = EXTRACTORS[name]()
    try_extract(markdown, small_page, "")
    tell = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    print(json.dumps({"ready": time.process_time() - started}), file=tell, flush=True)
    while asked := read_page():
        print(json.dumps(measure_extraction(*asked, markdown, text)), file=tell, flush=True)
    print(json.dumps({"peak": read_peak_memory()}), file=tell, flush=True)


def read_page() -> tuple[bytes, str] | None:
    """Read the next page and its address, or None at an empty line."""
    line = sys.stdin.readline()
    if not line.strip():
        return None
    asked = json.loads(line)
    return base64.b64decode(asked["html"]), asked["url"]


def measure_extraction(html: bytes, url: str, markdown: Extract, text: Extract | None) -> dict[str, object]:
    started = time.process_time()
    found = try_extract(markdown, html, url)
    spent = (time.process_time() - started) * 1_000
    return {"ms": spent, "markdown": found, "text": try_extract(text, html, url) if text else None}


if __name__ == "__main__":
    main(sys.argv[1])
