"""Rewrite pages as if in Chinese, since the corpora have few such pages.

A word becomes one to three ideographs, always the same ones, and spaces are removed. This changes the features that
depend on the script: lengths, word counts, punctuation, and whole sentences as a single run of letters. Markup and the
position of text stay the same.
"""

import re
from dataclasses import replace
from zlib import crc32

from outrider.pages.extraction.blocks.page_blocks import PageBlocks
from outrider.pages.extraction.classify.signals import PageSignals

FIRST_IDEOGRAPH, IDEOGRAPH_COUNT = 0x4E00, 3_500  # about as many as in daily use
WORD = re.compile(r"[^\W\d_]+")
SPACE = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) | (?=[\u3000-\u9fff\uff00-\uffef])")
PUNCTUATION = str.maketrans({".": "。", ",": "，", "?": "？", "!": "！", ":": "：", ";": "；"})


def convert_to_ideographs(text: str) -> str:
    """Return a text with its words replaced by ideographs."""
    found = WORD.sub(_write_word, text)
    return SPACE.sub("", re.sub(r"(?<=[\u4e00-\u9fff])[.,?!:;]", lambda mark: mark[0].translate(PUNCTUATION), found))


def _write_word(word: re.Match[str]) -> str:
    letters_per_ideograph = 4
    number, count = crc32(word[0].lower().encode()), min(3, len(word[0]) // letters_per_ideograph + 1)
    return "".join(chr(FIRST_IDEOGRAPH + (number >> 9 * at) % IDEOGRAPH_COUNT) for at in range(count))


def rewrite_page(page: PageBlocks, signals: PageSignals) -> tuple[PageBlocks, PageSignals]:
    """Return the page and its signals in ideographs. Characters in links shrink with their block."""
    texts = [convert_to_ideographs(text) for text in page.texts]
    rows = [
        (row[0], round(row[1] * len(new) / max(1, len(old))), *row[2:])
        for row, old, new in zip(page.rows, page.texts, texts, strict=True)
    ]
    declared = {name: convert_to_ideographs(getattr(signals, name)) for name in ("title", "description", "json_ld")}
    return replace(page, texts=texts, rows=rows), replace(signals, **declared)
