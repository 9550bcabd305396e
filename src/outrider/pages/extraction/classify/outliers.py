"""What a cut leaves standing apart from an article: pieces of the margin far from it, and headings of nothing.

Teasers, notices and lists of what is read most look like content one by one; that they stand alone tells them. On 120
pages of other corpora dropping them is worth .004 of F1, and on sites of the large corpus that were not seen it costs
nothing. Pieces eight blocks apart instead of six keep .002 of the headings and .001 of the items that are content;
they gain .0004 of F1 on the large corpus, by networks that had not seen its pages, and cost the 120 pages .0003. A
piece that is kept from a likelihood of .7 instead of .75 is worth .0014 of the links, and costs neither.

On all kinds but documentation and forums a line that is no more than a way to another place of the page is left out
(.00003 of F1 on 1,487 pages, of which 28 gain and 15 lose); and on articles and documentation a heading of which all
that it stands above was left out (21 pages gain, 6 lose; .0001 on news; in forums one page loses .09).

More than four headings at the end of a piece are a list of titles, and stay: .0013 of the headings and .0009 of the
links, .0001 of F1 (three of four pages gain, by networks that have seen them; of 302 by others none changes).
"""

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.complete_structures import find_heading, is_heading

CONTIGUOUS_KIND = "article"  # the kind of page of which the content is one text
NON_LIST_TAGS = frozenset(
    TAG_NUMBERS[tag] for tag in ("p", "div", "button", "custom", "section", "article", "main", "header")
)
MAX_ANCHOR_LINK_CHARS, MIN_LINKED_SHARE = 60, 0.9  # characters of a way to another place, and their share in links


def drop_outliers(page: PageBlocks, chosen: list[int], probabilities: list[float], words: list[float]) -> list[int]:
    """The chosen blocks of an article without stray pieces, and without headings with nothing behind them.

    Args:
        page: An article.
        chosen: Numbers of blocks, in order.
        probabilities: Of each block, how likely it is content.
        words: Of each block.
    """
    min_share_of_largest = 0.3  # of the largest piece's words, each by its likelihood: what is kept for its size
    min_probability = 0.7  # likelihood, mean by words, of a piece that is kept wherever it stands
    pieces = _split_pieces(chosen)
    weights = [sum([words[block] * probabilities[block] for block in piece]) for piece in pieces]
    most = max(weights, default=0.0)
    kept = [
        piece
        for piece, weight in zip(pieces, weights, strict=True)
        if weight >= min_share_of_largest * most or weight >= min_probability * sum([words[block] for block in piece])
    ]
    return [block for piece in kept for block in _trim_trailing_headings(page, piece)]


def drop_dangling_pointers(page: PageBlocks, chosen: list[int], kind: str) -> list[int]:
    """The chosen blocks without what pointed to others: lone ways to places of the page, headings of what is gone."""
    kinds_keeping_anchor_links = frozenset(
        {"documentation", "forum", ""}
    )  # those where a line of a link to a place in them may tell something
    kinds_without_empty_headings = frozenset({"article", "documentation"})  # kinds of pages without headings of nothing
    gone = set[int]()
    if kind not in kinds_keeping_anchor_links and page.fragment_link_blocks:
        gone = _discard_if_many(_find_anchor_links(page, page.fragment_link_blocks.intersection(chosen)))
    if kind in kinds_without_empty_headings:
        gone |= _discard_if_many(_find_empty_headings(page, chosen))
    return [block for block in chosen if block not in gone] if gone else chosen


def _discard_if_many(found: set[int]) -> set[int]:
    max_blocks = 2  # such ways, or headings of nothing; more are a list
    return found if len(found) <= max_blocks else set()


def _find_anchor_links(page: PageBlocks, anchor_links: set[int]) -> set[int]:
    """Lines of one link to a place of the page, that have none beside them."""
    return {
        block
        for block in anchor_links
        if len(page.texts[block]) < MAX_ANCHOR_LINK_CHARS
        and page.rows[block][1] >= MIN_LINKED_SHARE * len(page.texts[block])
        and page.elements[page.rows[block][0]][1] in NON_LIST_TAGS
        and anchor_links.isdisjoint((block - 1, block + 1))
    }


def _find_empty_headings(page: PageBlocks, chosen: list[int]) -> set[int]:
    """Headings behind text, of which what they stood above was left out, before others of their level or above."""
    found, first = set[int](), TAG_NUMBERS["h1"]
    for before, block, after in zip(chosen, chosen[1:], chosen[2:], strict=False):
        if after == block + 1 or is_heading(page, before) or is_heading(page, block + 1):
            continue
        mine, other = find_heading(page, block), find_heading(page, after)
        if mine >= 0 and other >= 0 and first < page.elements[mine][1] >= page.elements[other][1]:
            found.add(block)
    return found


def _trim_trailing_headings(page: PageBlocks, piece: list[int]) -> list[int]:
    """A piece without the few headings that it ends with; all of it if it is headings only."""
    max_trailing_headings = 4  # headings at the end of a piece that are left out; more are a list of titles
    end = len(piece)
    while end and is_heading(page, piece[end - 1]):
        end -= 1
    return piece[:end] if 0 < end >= len(piece) - max_trailing_headings else piece


def _split_pieces(chosen: list[int]) -> list[list[int]]:
    """The chosen blocks in pieces that stand apart."""
    min_gap_blocks = 8  # blocks from one piece to the next
    pieces: list[list[int]] = []
    last = -min_gap_blocks - 1
    for block in chosen:
        if block - last > min_gap_blocks:
            pieces.append([])
        pieces[-1].append(block)
        last = block
    return pieces
