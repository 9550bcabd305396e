"""Find the embeds between or next to the chosen blocks."""

from operator import itemgetter

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks

PageEmbed = tuple[int, int, str, str]  # number of the next block, element that holds it, address, label


def find_embeds(page: PageBlocks, chosen: list[int]) -> list[tuple[int, PageEmbed]]:
    """Return the embeds that belong to the chosen blocks, each with the number of chosen blocks before it.

    An embed belongs to them if the blocks on both sides were chosen, or one in the same element.
    """
    selected, passed = list[tuple[int, PageEmbed]](), 0
    embeds = [(at, owner, address, words) for address, (at, owner, words) in page.embeds.items()]
    for embed in sorted(embeds, key=itemgetter(0)):
        while passed < len(chosen) and chosen[passed] < embed[0]:
            passed += 1
        before = chosen[passed - 1] if passed else -1
        after = chosen[passed] if passed < len(chosen) else len(page.texts)
        if _is_in_content(page, embed, before, after):
            selected.append((passed, embed))
    return selected


def _is_in_content(page: PageBlocks, embed: PageEmbed, before: int, after: int) -> bool:
    figure_tag = TAG_NUMBERS["figure"]
    max_distance = 3  # blocks to the chosen ones on both sides
    next_block, holder, elements = embed[0], embed[1], page.elements
    is_between = before >= 0 and after < len(page.texts)
    if is_between and next_block - before <= max_distance and after - next_block < max_distance:
        return True
    first = end = next_block
    while holder >= 0:
        is_figure, is_empty = elements[holder][1] == figure_tag, page.last[holder] <= elements[holder][5]
        if not is_figure and not is_empty:
            break
        if is_figure:  # the caption belongs to the embed
            first, end = elements[holder][5], page.last[holder]
        holder = elements[holder][0]
    if holder < 0:
        return False
    return before >= max(first - 1, elements[holder][5]) or after <= end < page.last[holder]
