"""What a page embeds, told where it stands among the chosen blocks."""

from operator import itemgetter

from outrider.pages.content.walking.blocks import NUMBER, Blocks

FIGURE = NUMBER["figure"]
NEAR = 3  # blocks to the chosen ones on both sides of what stands in their midst
Embed = tuple[int, int, str, str]  # number of the block behind it, element that holds it, address, words


def embeds_among(page: Blocks, chosen: list[int]) -> list[tuple[int, Embed]]:
    """What is embedded between or beside the chosen blocks, in order, each with how many of them stand before it.

    It belongs to them if both sides of it are chosen, or one that stands in the same element.
    """
    found, passed = list[tuple[int, Embed]](), 0
    embeds = [(at, owner, address, words) for address, (at, owner, words) in page.embeds.items()]
    for embed in sorted(embeds, key=itemgetter(0)):
        while passed < len(chosen) and chosen[passed] < embed[0]:
            passed += 1
        before = chosen[passed - 1] if passed else -1
        after = chosen[passed] if passed < len(chosen) else len(page.texts)
        if _belongs(page, embed, before, after):
            found.append((passed, embed))
    return found


def _belongs(page: Blocks, embed: Embed, before: int, after: int) -> bool:
    at, holder = embed[0], embed[1]
    if before >= 0 and after < len(page.texts) and at - before <= NEAR and after - at < NEAR:
        return True
    first = last = at
    while holder >= 0 and (_is_empty(page, holder) or page.elements[holder][1] == FIGURE):
        if page.elements[holder][1] == FIGURE:  # with its caption
            first, last = page.elements[holder][5], page.last[holder]
        holder = page.elements[holder][0]
    if holder < 0:
        return False
    return before >= max(first - 1, page.elements[holder][5]) or after <= last < page.last[holder]


def _is_empty(page: Blocks, element: int) -> bool:
    return page.last[element] <= page.elements[element][5]
