"""The one entry: the main content of a page.

Bounded work whatever stands in the page: sources are cut, and those that would cost a tree builder
more than they hold (elements opened by the ten thousand, or formatting that the standard reopens in
every paragraph) are thinned first.
"""

import os
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.content.blocks import Blocks, cut_into_blocks
from outrider.pages.content.signals import Signals, read_signals
from outrider.pages.content.taming import tame

CHARS = 4_000_000  # of source that are looked at
LEAST = 25  # words that a page's content holds at least, if the page has as many


@dataclass(slots=True)
class Content:
    """The main content of a page.

    Attributes:
        text: Words, one block a line, blocks an empty line apart.
        markdown: The same with structure.
        metadata: `hidden` characters left out, `expected` F1 of the cut, `fallback` if the model's cut was not used,
            `cut` where the page was larger than is looked at, `curtain` where a script would have shown the page.
        signals: What the page says about itself.
    """

    text: str = ""
    markdown: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    signals: Signals = field(default_factory=Signals)


def main_content(html: bytes | str, url: str = "", *, main: bool = True, images: bool = False) -> Content:
    """The main content of an HTML page; empty only where the page shows no text and says nothing about itself.

    Args:
        html: The source; bytes are decoded as browsers do.
        url: Where it came from, for relative links and for its words.
        main: Whether to leave out what surrounds the content.
        images: Whether pictures with a text alternative are shown.
    """
    tree = parsed(html)
    if tree.body is None:
        return Content()
    return content_of(tree, url, main=main, images=images)


def parsed(html: bytes | str) -> Any:
    """The page's tree. Without events, which only serve to copy chosen options and cost the square of their number."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    return LexborHTMLParser(tame(_utf8(html), CHARS), options=LexborDocumentOptions.WO_EVENTS)


def _utf8(html: bytes | str) -> bytes | str:
    """Bytes that are UTF-8 as they are; others decoded."""
    if isinstance(html, str):
        return html
    try:
        html.decode("utf-8")
    except UnicodeDecodeError:
        from outrider.pages.charset import decode

        return decode(html)[0]
    return html.removeprefix(b"\xef\xbb\xbf")


def content_of(tree: Any, url: str = "", *, main: bool = True, images: bool = False) -> Content:
    """The same of a parsed page (selectolax's lexbor parser), which is left as it is."""
    from outrider.pages.content.render import markdown_of, text_of

    page, signals = cut_into_blocks(tree.body), read_signals(tree, url)
    chosen, facts = _chosen(page, signals) if main else (list(range(len(page.texts))), {})
    found = Content(signals=signals, metadata=facts | _facts(page))
    found.markdown = markdown_of(page, chosen, signals.base or url, images=images)
    found.text = text_of(page, chosen)
    if not found.text:
        found.text = found.markdown = signals.body() or signals.description or " ".join(signals.title.split())
        found.metadata["fallback"] = "declared"
    return found


def _facts(page: Blocks) -> dict[str, Any]:
    facts = {"hidden": page.hidden, "cut": page.cut, "curtain": page.curtain}
    return {name: value for name, value in facts.items() if value}


def _chosen(page: Blocks, signals: Signals) -> tuple[list[int], dict[str, Any]]:
    """The numbers of the blocks to keep, and how sure that is."""
    if not page.texts:
        return [], {}
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices this small only wait for other threads
    import numpy as np

    from outrider.pages.content.features import describe
    from outrider.pages.content.lexicon import columns
    from outrider.pages.content.model import model
    from outrider.pages.content.select import kept

    learned = model()
    features, words = describe(page, signals)
    features = np.hstack([features[:, learned.columns], columns(page, words, learned.names)])
    keep, expected = kept(learned.probabilities(features), words)
    facts: dict[str, Any] = {"expected": round(expected, 3)}
    if float(words[keep].sum()) < min(LEAST, float(words.sum()) * 0.5):
        keep[:] = True
        facts["fallback"] = "whole"
    return np.flatnonzero(keep).tolist(), facts
