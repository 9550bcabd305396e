"""Find the blocks that show what a page declares as parts of its content.

Lists of ingredients look like menus and shop shelves to the model: short lines with numbers and links. A part may be
spread over several blocks (amount and name), written with other units, and shown twice, so words are compared, and only
in the smallest element that shows most parts of a list. Figures: docs/reference/extraction.md.
"""

import re
from collections import defaultdict
from itertools import accumulate
from typing import NamedTuple

from outrider.pages.extraction.blocks.page_blocks import PageBlocks

DECLARED_PROBABILITY = 1.0
WORD_PATTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")  # without numbers
MIN_SHARED_WORDS = 0.6  # share of a block's words in the part, and of the part's words in its blocks


class PartPlace(NamedTuple):
    """Blocks that show a part; `end` is the number after the last one."""

    part: int
    start: int
    end: int


def find_declared_blocks(page: PageBlocks, lists: list[list[str]]) -> list[int]:
    """Return the blocks that show the declared parts, in no order."""
    max_blocks, max_block_chars = 2_000, 1_000
    max_compared_words = 1_000_000  # of all lists together: a fifth of a second
    other_text = frozenset({""})  # a word of no part
    texts = page.texts[:max_blocks]
    words = [_split_words(text) if len(text) <= max_block_chars else other_text for text in texts]
    lists = lists[: 1 + max_compared_words // (1 + sum(map(len, words)))]  # each is compared with the whole page
    limit = max_compared_words // len(lists)
    return [block for parts in lists for block in _find_list(page, words, parts, limit)]


def _split_words(text: str) -> frozenset[str]:
    return frozenset(WORD_PATTERN.findall(text.casefold()))


def _find_list(page: PageBlocks, words: list[frozenset[str]], texts: list[str], max_compared_words: int) -> list[int]:
    """Return the blocks of the element that shows most parts of a list, if it shows half of them."""
    max_ancestors = 40
    min_shown_share = 0.5
    min_words = 6  # a single short part is shown by chance
    min_share_of_best = 0.8  # of the parts that the whole page shows
    parts = [part for part in dict.fromkeys(map(_split_words, texts)) if part]
    if sum(map(len, parts)) < min_words:
        return []
    vocabulary = frozenset[str]().union(*parts)
    possible = [block for block, own in enumerate(words) if own and _is_mostly_in(own, vocabulary)]
    compared = accumulate(len(words[block]) * len(parts) for block in possible)
    possible = [block for block, count in zip(possible, compared, strict=True) if count <= max_compared_words]
    places = [place for part, own in enumerate(parts) for place in _find_part(words, possible, part, own)]
    shown: dict[int, set[int]] = defaultdict(set)
    for place in places:
        element = page.rows[place.start][0]
        for _ in range(max_ancestors):
            if element < 0:
                break
            if page.last[element] >= place.end:
                shown[element].add(place.part)
            element = page.elements[element][0]
    best = max(map(len, shown.values()), default=0)
    if not best or best < min_shown_share * len(parts):
        return []
    candidates = [element for element, found in shown.items() if len(found) >= min_share_of_best * best]
    smallest = min(candidates, key=lambda element: (page.last[element] - page.elements[element][5], element))
    first, last = page.elements[smallest][5], page.last[smallest]
    return [block for _, start, end in places if first <= start and end <= last for block in range(start, end)]


def _find_part(words: list[frozenset[str]], possible: list[int], part: int, own: frozenset[str]) -> list[PartPlace]:
    """Return the runs of blocks that show a part, with the numbers before and between them."""
    max_part_blocks = 30
    max_number_blocks = 2  # before the words of a part
    places = list[PartPlace]()
    end = 0
    for block in possible:
        if block < end or not _is_mostly_in(words[block], own):
            continue
        start = end = block
        covered = set[str]()
        while end < min(len(words), start + max_part_blocks) and (not words[end] or _is_mostly_in(words[end], own)):
            covered |= words[end]
            end += 1
        while not words[end - 1]:
            end -= 1
        while start > max(0, block - max_number_blocks) and not words[start - 1]:
            start -= 1
        if len(covered & own) >= MIN_SHARED_WORDS * len(own):
            places.append(PartPlace(part, start, end))
    return places


def _is_mostly_in(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= MIN_SHARED_WORDS * len(words)
