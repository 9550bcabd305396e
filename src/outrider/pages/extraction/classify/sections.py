"""Sections as their authors made them: the headline above the text, the words below a heading, the last short one.

The headline of documentation, services and listings stands a few short lines above the first block that is kept, and
is one only if the text has other headings, listings or terms, and none of those lines has a date: news is told as
documentation now and then, and its references leave headlines out. On 1,487 pages this costs .00002 of F1, on 89 pages
of news .0001; on articles it would cost .0011, on products .0007, on collections .0003, in forums .0014. Sections of
documentation that are filled, or kept because those beside them are, and signatures changed nothing there; on all kinds
of pages filling cost .002 to .011. Single blocks between two are worth .0001 on documentation. A heading alone at the
end of documentation, forums, listings and collections is left out, which is worth .0004 on collections, .0009 on
listings and .0003 on news; services lose .001 by it.
"""

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.complete_structures import MIN_RELATED_PROBABILITY, find_heading, is_heading

DOCUMENTATION = "documentation"
H1_TAG, H2_TAG, H3_TAG = TAG_NUMBERS["h1"], TAG_NUMBERS["h2"], TAG_NUMBERS["h3"]
STRUCTURE_TAGS = frozenset({TAG_NUMBERS["pre"], TAG_NUMBERS["dt"]})
DATE_PATTERN = re.compile(r"\d{4}|\d:\d\d|\d[/.-]\d{1,2}[/.-]\d\d")
REACH, LINE = 6, 100  # blocks above what is kept, and characters of each, behind a headline
BLOCKS, CHARS = 8, 1_000  # of a section that is kept as a whole
INTERACTIVE_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("button", "nav", "form", "aside", "footer", "label"))


def complete_sections(page: PageBlocks, chosen: list[int], probabilities: NDArray[np.float32], kind: str) -> list[int]:
    """The chosen blocks and what their sections need; without a last heading of nothing."""
    kinds_without_trailing_heading = frozenset(
        {DOCUMENTATION, "forum", "listing", "collection"}
    )  # those that do not end with a heading
    kinds_with_headline = frozenset({DOCUMENTATION, "service", "listing"})  # kinds of pages that keep their headlines
    if not chosen:
        return chosen
    found = set(_find_signatures(page, chosen))
    if found:
        found.update(_find_api_reference(page, chosen))
    if kind == DOCUMENTATION:
        found.update(
            _fill_empty_sections(page, chosen),
            _find_following_sections(page, chosen, probabilities),
            _find_single_gaps(page, chosen, probabilities),
        )
    if kind in kinds_with_headline:
        found.update(_find_headline(page, chosen, probabilities, lowest=H3_TAG if kind == DOCUMENTATION else H2_TAG))
    if found:
        chosen = sorted(found.union(chosen))
    return chosen[:-1] if kind in kinds_without_trailing_heading and _ends_with_heading(page, chosen) else chosen


def _find_single_gaps(page: PageBlocks, chosen: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Single blocks between two that were chosen, not much less likely than the floor, but for lines with dates."""
    min_gap_probability = 0.4  # likelihood of a block between two of documentation
    found = [one + 1 for one, other in pairwise(chosen) if other - one == 2]
    return [at for at in found if likely[at] >= min_gap_probability and not DATE_PATTERN.search(page.texts[at])]


def _ends_with_heading(page: PageBlocks, chosen: list[int]) -> bool:
    return len(chosen) > 1 and is_heading(page, chosen[-1]) and not is_heading(page, chosen[-2])


def _find_headline(page: PageBlocks, chosen: list[int], likely: NDArray[np.float32], *, lowest: int) -> list[int]:
    """The headline above the first chosen block; of documentation with what is conceivable between them."""
    min_line_probability = 0.5  # likelihood of a line that belongs to the text, though it is below the floor
    first = chosen[0]
    if _get_heading_tag(page, first) == H1_TAG:
        return []
    best = -1
    for at in range(first - 1, max(-1, first - 1 - REACH), -1):
        tag = _get_heading_tag(page, at)
        if 0 < tag <= lowest:
            best = at if best < 0 or tag < _get_heading_tag(page, best) else best
            if tag == H1_TAG:
                break
        elif (len(page.texts[at]) > LINE and likely[at] < min_line_probability) or DATE_PATTERN.search(page.texts[at]):
            break
    if best < 0 or not _is_headline_of(page, best, first):
        return []
    between = [at for at in range(best + 1, first) if likely[at] >= MIN_RELATED_PROBABILITY]
    if not any(likely[at] >= min_line_probability for at in between) and not _has_structure(page, chosen):
        return []
    beside = between if lowest == H3_TAG else []
    return [best, *[at for at in beside if not _is_mostly_links(page, range(at, at + 1))]]


def _is_headline_of(page: PageBlocks, heading: int, block: int) -> bool:
    """Whether both stand in one element of the page, or the heading is the only one of its level."""
    if _find_common_ancestor(page, heading, block) > 0:
        return True
    return _get_heading_tag(page, heading) == H1_TAG and sum([row[1] == H1_TAG for row in page.elements]) == 1


def _has_structure(page: PageBlocks, chosen: list[int]) -> bool:
    return any(page.elements[page.rows[at][0]][1] in STRUCTURE_TAGS or is_heading(page, at) for at in chosen)


def _fill_empty_sections(page: PageBlocks, chosen: list[int]) -> list[int]:
    """What stands in the elements that begin with chosen headings of which nothing else was chosen."""
    kept, found = frozenset(chosen), list[int]()
    for block in chosen[:-1]:
        if block + 1 in kept or _get_heading_tag(page, block) in (0, H1_TAG):
            continue
        end, stop = block + 1, page.last[_find_section(page, block)]
        while end < stop and end not in kept and not is_heading(page, end):
            end += 1
        if end not in kept or is_heading(page, end):
            found += _limit_section(page, range(block + 1, end))
    return found


def _find_following_sections(page: PageBlocks, chosen: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Short sections right behind what was chosen, and made like one before them."""
    kept, found = set(chosen), list[int]()
    for block in chosen:
        heading = block + 1
        while heading not in kept and heading < len(likely) and likely[heading] >= MIN_RELATED_PROBABILITY:
            section = _find_section(page, heading) if is_heading(page, heading) else 0
            if not section or not _has_chosen_sibling(page, section, kept):
                break
            run = _limit_section(page, range(heading, page.last[section]))
            if len(run) < 2 or not kept.isdisjoint(run):
                break
            found += run
            kept.update(run)
            heading = run.stop
    return found


def _has_chosen_sibling(page: PageBlocks, section: int, kept: set[int]) -> bool:
    """Whether a section beside this one, and made alike, was chosen."""
    max_lookback_elements = 2_000  # elements before a section that are looked through for one made like it
    parent, made = page.elements[section][0], page.elements[section][4]
    if parent <= 0:
        return False
    return any(
        page.elements[at][0] == parent
        and page.elements[at][4] == made
        and not kept.isdisjoint(range(page.elements[at][5], page.last[at]))
        for at in range(section - 1, max(parent, section - max_lookback_elements), -1)
    )


def _limit_section(page: PageBlocks, run: range) -> range:
    """The blocks, if they are few, short and not mostly links; else none."""
    if len(run) > BLOCKS or sum([len(page.texts[at]) for at in run]) > CHARS or _is_mostly_links(page, run):
        return range(0)
    return run


def _is_mostly_links(page: PageBlocks, run: range) -> bool:
    return 2 * sum([page.rows[at][1] for at in run]) > sum([len(page.texts[at]) for at in run])


def _find_signatures(page: PageBlocks, chosen: list[int]) -> list[int]:
    """Blocks right behind chosen headings of one word, in one element with them, that say this word among others."""
    min_name_chars = 3  # characters of a name
    max_signature_chars = 300  # characters of a block that says its heading's name
    found, texts, count = list[int](), page.texts, len(page.texts)
    for block in chosen:
        name = texts[block]
        if " " in name or len(name) < min_name_chars or block + 1 == count:
            continue
        said = texts[block + 1]
        if (
            name in said
            and len(name) < len(said) <= max_signature_chars
            and (heading := find_heading(page, block)) >= 0
        ):
            owner, parent = page.rows[block + 1][0], page.elements[heading][0]
            if parent in (owner, page.elements[owner][0]):
                found.append(block + 1)
    return found


def _find_api_reference(page: PageBlocks, chosen: list[int]) -> list[int]:
    """All but buttons and ways elsewhere that stands in one element with signatures of functions, to the last of them.

    Such a page is a reference for programmers, whatever it is taken for: none of the large corpus is one.
    """
    min_signatures = 2  # functions of a reference
    texts = page.texts
    named = [at for at, text in enumerate(texts[:-1]) if " " not in text and text + "(" in texts[at + 1]]
    signed = [at for at in named if is_heading(page, at)]
    if len(signed) < min_signatures:
        return []
    around = _find_common_ancestor(page, min(chosen[0], signed[0]), signed[-1])
    stop = page.last[_find_section(page, signed[-1])]
    return (
        [at for at in range(page.elements[around][5], stop) if _is_outside_controls(page, at, around)] if around else []
    )


def _is_outside_controls(page: PageBlocks, block: int, around: int) -> bool:
    """Whether no button, form or navigation holds a block, as far as an element around it."""
    at = page.rows[block][0]
    while at > around and page.elements[at][1] not in INTERACTIVE_TAGS:
        at = page.elements[at][0]
    return at <= around


def _find_section(page: PageBlocks, block: int) -> int:
    """The outermost element, but the body, that begins with this block."""
    at, best = page.rows[block][0], 0
    while at > 0 and page.elements[at][5] == block:
        at, best = page.elements[at][0], at
    return best


def _find_common_ancestor(page: PageBlocks, one: int, other: int) -> int:
    """The innermost element that holds both blocks."""
    at, last = page.rows[one][0], page.rows[other][0]
    while at > 0 and not (page.elements[at][5] <= other < page.last[at] and at <= last):
        at = page.elements[at][0]
    return max(at, 0)


def _get_heading_tag(page: PageBlocks, block: int) -> int:
    """The tag of the heading that a block stands in; 0 for none."""
    at = find_heading(page, block)
    return page.elements[at][1] if at >= 0 else 0
