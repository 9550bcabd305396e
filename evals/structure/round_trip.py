"""Count CommonMark examples that survive HTML to Markdown and back.

git clone https://github.com/commonmark/commonmark-spec
python -m evals.structure.round_trip commonmark-spec [--lost]

The examples (CC BY-SA 4.0) stay outside of this repository. Each is placed between two paragraphs, as in a page, and a
CommonMark parser reads our Markdown back, with line breaks on, as hosts show it. It ignores raw HTML, titles of
links, links that an agent cannot follow (into the page itself, unknown schemes), whether a list is tight, empty
elements, and emphasis inside of the same emphasis.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from outrider import extract

PAGE_URL = "https://site.example/a/"
EXAMPLE_PATTERN = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)
COMPARED_TAGS = frozenset("p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong a img br hr".split())  # noqa: SIM905
INLINE_TAGS = frozenset({"a", "em", "strong", "code", "img", "br"})
EMPHASIS_TAGS = frozenset({"em", "strong"})
TAG_NAME = re.compile(r"</?([a-zA-Z][\w-]*)|<[!?]")


@dataclass
class Outline:
    """A tree of elements with their words, as lines that can be compared.

    Attributes:
        lines: Tags, and texts after `=`.
        emphasis: The open kinds of emphasis.
    """

    lines: list[str] = field(default_factory=list)
    emphasis: list[str] = field(default_factory=list)

    def add_children(self, node: Any, *, is_code: bool = False) -> None:
        """Add the children of an element."""
        child = node.child
        while child is not None:
            if child.tag == "-text":
                self._add_text(child.text_content, is_code=is_code)
            elif child.tag in INLINE_TAGS:
                self._add_inline(child, is_code=is_code)
            elif child.tag in COMPARED_TAGS:
                self._add_block(child)
            child = child.next

    def _add_text(self, text: str, *, is_code: bool) -> None:
        text = text if is_code else re.sub(r"\s+", " ", text)
        before = self.lines[-1] if self.lines else ""
        if before[:1] == "=":
            self.lines[-1] = before + text if is_code else (before + text).replace("  ", " ")
        elif before[:1] == "~" and before != "~br":
            self.lines.append("=" + text)
        elif text.strip():
            self.lines.append("=" + (text if is_code else text.lstrip()))

    def _add_inline(self, node: Any, *, is_code: bool) -> None:
        name, start = _describe(node), len(self.lines)
        is_kept = bool(name) and name not in self.emphasis
        if node.tag == "br":
            self._end_text()
        self.lines += [f"~{name}"] * is_kept
        self.emphasis += [name] * (node.tag in EMPHASIS_TAGS)
        self.add_children(node, is_code=is_code)
        del self.emphasis[len(self.emphasis) - (node.tag in EMPHASIS_TAGS) :]
        if is_kept and node.tag not in ("img", "br"):
            self.lines[start:] = [*self.lines[start:], f"~/{node.tag}"] if len(self.lines) > start + 1 else []

    def _add_block(self, node: Any) -> None:
        """Add a block. Paragraphs are only borders, and two rules are one."""
        self._end_text()
        name, start = _describe(node), len(self.lines)
        before = self.lines[-1] if self.lines else ""
        if node.tag == "hr":
            self.lines += ["hr"] * (before != "hr")
            return
        self.lines += [name] if name else ["|"] * (before[:1] in ("=", "~"))
        content_start = len(self.lines)
        self.add_children(node, is_code=node.tag == "pre")
        self._end_text()
        if len(self.lines) <= content_start:
            del self.lines[start:]  # nothing in it
        elif name:
            self.lines.append(f"/{node.tag}")

    def _end_text(self) -> None:
        """Remove trailing white space, and a border that nothing follows."""
        if self.lines and self.lines[-1][:1] == "=":
            self.lines[-1] = "=" + self.lines[-1][1:].strip("\n").rstrip()
        if self.lines and self.lines[-1] in ("=", "|"):
            self.lines.pop()


def _describe(node: Any) -> str:
    """Return the part of an element that must survive, or "" for nothing."""
    attributes = node.attributes
    if node.tag == "a":
        address = urljoin(PAGE_URL, attributes.get("href") or "")
        is_outward = address.startswith(("http:", "https:", "mailto:")) and address.partition("#")[0] != PAGE_URL
        return f"a {unquote(address)}" if is_outward else ""
    if node.tag == "img":
        label = attributes.get("alt") or ""
        return f"img {unquote(urljoin(PAGE_URL, attributes.get('src') or ''))} {label}" if label else ""
    if node.tag == "ol":
        return f"ol {attributes.get('start') or 1}"
    return "" if node.tag == "p" or (node.tag == "code" and node.parent.tag == "pre") else node.tag


def build_outline(html: str) -> list[str]:
    """Return the structure and the words of HTML, with a line for each."""
    found = Outline()
    found.add_children(LexborHTMLParser(f"{html}<p>").body)
    return found.lines


def count_words(html: str) -> Counter[str]:
    """Count the words of HTML."""
    body = LexborHTMLParser(html).body
    return Counter(re.findall(r"\w+", body.text(separator=" ")) if body else [])


def read_examples(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the HTML of each example without raw HTML."""
    text = (folder / "spec.txt").read_text(encoding="utf-8").replace("\u2192", "\t")
    for number, example in enumerate(EXAMPLE_PATTERN.finditer(text), 1):
        html = example[2]
        is_raw = not {match[1] for match in TAG_NAME.finditer(html)} <= COMPARED_TAGS or html.count("<a") != html.count(
            "</a>"
        )
        if html.strip() and not is_raw:
            yield number, html


def convert_and_back(html: str) -> tuple[str, str]:
    """Return our Markdown of HTML, and a parser's HTML of that Markdown."""
    markdown = extract(html, url=PAGE_URL, main=False, images=True).markdown
    return markdown, MarkdownIt("commonmark", {"breaks": True}).render(markdown)


@dataclass(frozen=True)
class RoundTrip:
    """The examples that keep their structure, and the share of kept words."""

    examples: int
    same: int
    words: float
    lost: tuple[tuple[int, str, str], ...]


def measure_round_trip(pages: Iterator[tuple[int, str]]) -> RoundTrip:
    """Convert HTML and back, and compare."""
    page_template = "<p>Before</p>\n{}\n<p>After</p>"
    count, words, kept, lost = 0, 0, 0, list[tuple[int, str, str]]()
    for number, example in pages:
        html = page_template.format(example)
        markdown, back = convert_and_back(html)
        before, after = count_words(html), count_words(back)
        count, words, kept = count + 1, words + before.total(), kept + (before & after).total()
        if build_outline(html) != build_outline(back):
            lost.append((number, example, markdown))
    return RoundTrip(count, count - len(lost), kept / max(1, words), tuple(lost))


def main() -> None:
    """Print the figures, and the examples that changed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, help="a clone of commonmark/commonmark-spec")
    options.add_argument("--lost", action="store_true", help="show the examples that change")
    arguments = options.parse_args()
    found = measure_round_trip(read_examples(arguments.folder))
    for number, html, markdown in found.lost if arguments.lost else ():
        print(f"--- example {number}\n{html}--- as Markdown\n{markdown}")
    print(f"structure {found.same} of {found.examples} ({found.same / found.examples:.3f}), words {found.words:.4f}")


if __name__ == "__main__":
    main()
