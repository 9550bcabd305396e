"""What a page embeds, told where it stands among the chosen blocks."""

from operator import itemgetter

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks

FIGURE_TAG = TAG_NUMBERS["figure"]
PageEmbed = tuple[int, int, str, str]  # number of the block behind it, element that holds it, address, words


def find_embeds(page: PageBlocks, chosen: list[int]) -> list[tuple[int, PageEmbed]]:
    """What is embedded between or beside the chosen blocks, in order, each with how many of them stand before it.

    It belongs to them if both sides of it are chosen, or one that stands in the same element.
    """
    found, passed = list[tuple[int, PageEmbed]](), 0
    embeds = [(at, owner, address, words) for address, (at, owner, words) in page.embeds.items()]
    for embed in sorted(embeds, key=itemgetter(0)):
        while passed < len(chosen) and chosen[passed] < embed[0]:
            passed += 1
        before = chosen[passed - 1] if passed else -1
        after = chosen[passed] if passed < len(chosen) else len(page.texts)
        if _is_in_content(page, embed, before, after):
            found.append((passed, embed))
    return found


def _is_in_content(page: PageBlocks, embed: PageEmbed, before: int, after: int) -> bool:
    max_distance = 3  # blocks to the chosen ones on both sides of what stands in their midst
    at, holder = embed[0], embed[1]
    if before >= 0 and after < len(page.texts) and at - before <= max_distance and after - at < max_distance:
        return True
    first = last = at
    while holder >= 0 and (_is_empty(page, holder) or page.elements[holder][1] == FIGURE_TAG):
        if page.elements[holder][1] == FIGURE_TAG:  # with its caption
            first, last = page.elements[holder][5], page.last[holder]
        holder = page.elements[holder][0]
    if holder < 0:
        return False
    return before >= max(first - 1, page.elements[holder][5]) or after <= last < page.last[holder]


def _is_empty(page: PageBlocks, element: int) -> bool:
    return page.last[element] <= page.elements[element][5]
