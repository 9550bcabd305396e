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

from outrider.pages.content.judging.mending import heading_of, is_heading
from outrider.pages.content.walking.blocks import NUMBER, Blocks

CONNECTED = "article"  # the kind of page of which the content is one text
APART = 8  # blocks from one piece to the next
SURE = 0.7  # likelihood, mean by words, of a piece that is kept wherever it stands
TEXTS = frozenset({"article", "documentation"})  # kinds of pages without headings of nothing
RICH = frozenset({"documentation", "forum", ""})  # those where a line of a link to a place in them may tell something
FREE = frozenset(NUMBER[tag] for tag in ("p", "div", "button", "custom", "section", "article", "main", "header"))
WAY, LINKED = 60, 0.9  # characters of a way to another place, and their share in links
MOST = 2  # such ways, or headings of nothing; more are a list
TITLES = 4  # headings at the end of a piece that are left out; more are a list of titles
LARGE = 0.3  # of the largest piece's words, each by its likelihood: what is kept for its size


def connected(page: Blocks, chosen: list[int], likely: list[float], words: list[float]) -> list[int]:
    """The chosen blocks of an article without stray pieces, and without headings with nothing behind them.

    Args:
        page: An article.
        chosen: Numbers of blocks, in order.
        likely: Of each block, how likely it is content.
        words: Of each block.
    """
    pieces = _pieces(chosen)
    weights = [sum([words[block] * likely[block] for block in piece]) for piece in pieces]
    most = max(weights, default=0.0)
    kept = [
        piece
        for piece, weight in zip(pieces, weights, strict=True)
        if weight >= LARGE * most or weight >= SURE * sum([words[block] for block in piece])
    ]
    return [block for piece in kept for block in _headed(page, piece)]


def without_remains(page: Blocks, chosen: list[int], kind: str) -> list[int]:
    """The chosen blocks without what pointed to others: lone ways to places of the page, headings of what is gone."""
    gone = set[int]()
    if kind not in RICH and page.jumps:
        gone = _at_most(_ways(page, page.jumps.intersection(chosen)))
    if kind in TEXTS:
        gone |= _at_most(_emptied(page, chosen))
    return [block for block in chosen if block not in gone] if gone else chosen


def _at_most(found: set[int]) -> set[int]:
    return found if len(found) <= MOST else set()


def _ways(page: Blocks, jumps: set[int]) -> set[int]:
    """Lines of one link to a place of the page, that have none beside them."""
    return {
        block
        for block in jumps
        if len(page.texts[block]) < WAY
        and page.rows[block][1] >= LINKED * len(page.texts[block])
        and page.elements[page.rows[block][0]][1] in FREE
        and jumps.isdisjoint((block - 1, block + 1))
    }


def _emptied(page: Blocks, chosen: list[int]) -> set[int]:
    """Headings behind text, of which what they stood above was left out, before others of their level or above."""
    found, first = set[int](), NUMBER["h1"]
    for before, block, after in zip(chosen, chosen[1:], chosen[2:], strict=False):
        if after == block + 1 or is_heading(page, before) or is_heading(page, block + 1):
            continue
        mine, other = heading_of(page, block), heading_of(page, after)
        if mine >= 0 and other >= 0 and first < page.elements[mine][1] >= page.elements[other][1]:
            found.add(block)
    return found


def _headed(page: Blocks, piece: list[int]) -> list[int]:
    """A piece without the few headings that it ends with; all of it if it is headings only."""
    end = len(piece)
    while end and is_heading(page, piece[end - 1]):
        end -= 1
    return piece[:end] if 0 < end >= len(piece) - TITLES else piece


def _pieces(chosen: list[int]) -> list[list[int]]:
    """The chosen blocks in pieces that stand apart."""
    pieces: list[list[int]] = []
    last = -APART - 1
    for block in chosen:
        if block - last > APART:
            pieces.append([])
        pieces[-1].append(block)
        last = block
    return pieces
