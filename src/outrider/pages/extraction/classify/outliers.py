"""Drop pieces far from an article's text, and headings without content.

Teasers, notices and reading lists look like content one by one, but they are isolated. On all kinds but documentation
and forums, lone lines that only link to another place of the page go too, and on articles and documentation headings
whose section was left out. More than four headings at the end of a piece are a list of titles and stay. Figures:
docs/reference/extraction.md.
"""

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.complete_structures import find_heading, is_heading
from outrider.pages.extraction.classify.declared_blocks import DECLARED_PROBABILITY

CONTIGUOUS_KIND = "article"  # the kind of page whose content is one text
NON_LIST_TAGS = frozenset(
    TAG_NUMBERS[tag] for tag in ("p", "div", "button", "custom", "section", "article", "main", "header")
)


def drop_outliers(page: PageBlocks, chosen: list[int], probabilities: list[float], words: list[float]) -> list[int]:
    """Return the chosen blocks of an article without isolated pieces and trailing headings.

    Args:
        page: An article.
        chosen: Numbers of blocks, in order.
        probabilities: Per block.
        words: Per block.
    """
    min_share_of_largest = 0.3  # of the expected words of the largest piece
    min_probability = 0.7  # certain pieces are kept regardless of their size
    min_gap_blocks = 8  # left out between two pieces
    max_trailing_headings = 4  # more of them at the end of a piece are a list of titles
    pieces: list[list[int]] = []
    last = -min_gap_blocks - 1
    for block in chosen:
        if block - last > min_gap_blocks:
            pieces.append([])
        pieces[-1].append(block)
        last = block
    weights = [sum([words[block] * probabilities[block] for block in piece]) for piece in pieces]
    largest = max(weights, default=0.0)
    kept: list[int] = []
    for piece, weight in zip(pieces, weights, strict=True):
        is_certain = weight >= min_probability * sum([words[block] for block in piece])
        is_certain = is_certain or any(probabilities[block] == DECLARED_PROBABILITY for block in piece)
        if not is_certain and weight < min_share_of_largest * largest:
            continue
        end = len(piece)
        while end and is_heading(page, piece[end - 1]):
            end -= 1
        kept += piece[:end] if 0 < end >= len(piece) - max_trailing_headings else piece
    return kept


def drop_dangling_pointers(page: PageBlocks, chosen: list[int], kind: str) -> list[int]:
    """Drop lone links within the page, and headings of dropped sections."""
    max_pointers = 2  # more of them are a list
    links, headings = set[int](), set[int]()
    if kind not in ("documentation", "forum", "") and page.fragment_link_blocks:
        max_chars, min_linked_share = 60, 0.9  # of a line that is a single link
        anchor_links = page.fragment_link_blocks.intersection(chosen)
        links = {
            block
            for block in anchor_links
            if len(page.texts[block]) < max_chars
            and page.rows[block][1] >= min_linked_share * len(page.texts[block])
            and page.elements[page.rows[block][0]][1] in NON_LIST_TAGS
            and anchor_links.isdisjoint((block - 1, block + 1))
        }
    if kind in ("article", "documentation"):
        h1_tag = TAG_NUMBERS["h1"]
        # Headings after text, whose section was left out, before one of their level or above
        for before, block, after in zip(chosen, chosen[1:], chosen[2:], strict=False):
            if after == block + 1 or is_heading(page, before) or is_heading(page, block + 1):
                continue
            heading, following = find_heading(page, block), find_heading(page, after)
            if heading >= 0 and following >= 0 and h1_tag < page.elements[heading][1] >= page.elements[following][1]:
                headings.add(block)
    dropped = {block for blocks in (links, headings) if len(blocks) <= max_pointers for block in blocks}
    return [block for block in chosen if block not in dropped] if dropped else chosen
