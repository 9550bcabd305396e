"""Posts of a discussion: who wrote each, and when, by what the page marks as such."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter

from outrider.pages.extraction.blocks.class_words import CATEGORY_NUMBERS
from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS as TAG_NUMBER
from outrider.pages.extraction.blocks.page_blocks import PageBlocks

POST_BITS = sum(1 << CATEGORY_NUMBERS[name] for name in ("message", "comment", "post"))
PERSON_BITS = sum(1 << CATEGORY_NUMBERS[name] for name in ("author", "user"))
MIN_POSTS = 2  # posts of a discussion
LABEL_TAGS = frozenset({TAG_NUMBER["dt"], TAG_NUMBER["dd"]})
NON_WORD = re.compile(r"[\W_]+")
MAX_NAME_CHARS = 40  # characters of a name
DATE_PATTERN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\d.*\d:\d\d")
PROFILE_URL = re.compile(
    r"/(?:u|users?|members?|profiles?|authors?|people)/|(?:^|/)(?:user|member|profile)(?:\.php)?\?", re.IGNORECASE
)
POST_CLASS = re.compile(r"(?:^|\s)comtr(?:\s|$)")  # a post by a name that is no word
MENTION_PATTERN = re.compile(r"(?<!\w)@([\w.-]+)")
HEAD_BLOCKS = 16  # blocks of a post that are looked at
PostGroups = dict[Hashable, list[int]]
PLAIN_NAME, LINKED_NAME, PROFILE_NAME, DECLARED_NAME = range(4)  # how likely a name is the author's


def find_posts(page: PageBlocks, chosen: list[int]) -> dict[int, str]:
    """The author of each post that what was chosen consists of, in order; empty where it is no discussion."""
    if not page.times and not page.signed_authors and not _mentions_person(page):
        return {}
    return _find_authors(page, _find_post_elements(page, frozenset(chosen)))


@dataclass(frozen=True, slots=True)
class PostHead:
    """What stands before a post: what the chosen blocks do not say of it, and where that leads.

    Attributes:
        name: Of the author; empty if the post says it.
        date: In ISO format; empty if the post says it.
        profile, place: The addresses that name and date lead to; empty if they lead nowhere.
    """

    name: str
    date: str
    profile_url: str = ""
    permalink: str = ""

    def __str__(self) -> str:
        return " \u00b7 ".join(filter(None, (self.name, self.date)))


def build_post_heads(page: PageBlocks, chosen: list[int], posts: dict[int, str]) -> dict[int, PostHead]:
    """Of the first chosen block of each post, its author and date, as far as the chosen blocks do not say them."""
    kept = frozenset(chosen)
    heads: dict[int, PostHead] = {}
    for element, author in posts.items():
        blocks = _block_range(page, element)
        first = next((block for block in blocks if block in kept), -1)
        said = " ".join([page.texts[block] for block in blocks if block in kept][:3])
        name = author if author and author not in said else ""
        date = "" if _shows_date(page, blocks, kept) else _date(page, blocks)
        if first >= 0 and (name or date):
            heads[first] = PostHead(
                name, date, _find_profile_link(page, blocks, name), _find_permalink(page, blocks) if date else ""
            )
    return heads


def _find_profile_link(page: PageBlocks, blocks: range, name: str) -> str:
    """Where the author's name leads."""
    links = (link for block in blocks[:HEAD_BLOCKS] if name for link in _iter_links(page, block))
    return next((address for words, address in links if words.rstrip(" :,").removeprefix("@") == name), "")


def _find_permalink(page: PageBlocks, blocks: range) -> str:
    """Where the time of a post leads, if that is all that the link says."""
    at = next((block for block in blocks if block in page.times), -1)
    links = list(_iter_links(page, at)) if at >= 0 else []
    return next((address for words, address in links if words and words == page.texts[at]), "")


def get_opening_post(page: PageBlocks, posts: dict[int, str]) -> tuple[str, str]:
    """Author and date of the first post, of what the page marks as such; either may be empty."""
    if not posts:
        return "", ""
    first = min(posts)
    return posts[first], next((page.times[at] for at in _block_range(page, first) if at in page.times), "")


def _mentions_person(page: PageBlocks) -> bool:
    """Whether any class or id of the page speaks of a person."""
    return any(row[7] & PERSON_BITS for row in page.rows) or any(row[2] & PERSON_BITS for row in page.elements)


def _find_post_elements(page: PageBlocks, kept: frozenset[int]) -> list[int]:
    """The elements that look alike, are called posts or signed, and hold most of what was chosen.

    Where each has a class of its own, they look alike by their tags and by what their names mean.
    """
    called = [at for at, row in enumerate(page.elements) if row[2] & POST_BITS and page.last[at] > row[5]]
    strictly, loosely = _group_elements(page, called, itemgetter(4)), _group_elements(page, called, itemgetter(1, 2))
    signed = [at for at in page.signed_authors if page.last[at] > page.elements[at][5]]
    others = [at for at, names in enumerate(page.names) if POST_CLASS.search(names)] if _may_call(page.names) else []
    if not called and not signed and not others:
        return []
    if max(map(len, (signed, others, *strictly.values(), *loosely.values())), default=0) < MIN_POSTS:
        return []
    chars = _count_chars_before(page, kept)
    found = _find_largest_group(page, chars, [signed, others, *strictly.values()])
    if not found:
        return _find_largest_group(page, chars, list(loosely.values()))
    return [*_find_opening_post(page, loosely.get(page.elements[found[0]][1:3], []), found), *found]


def _may_call(names: list[str]) -> bool:
    return "comtr" in "\n".join(names)


def _group_elements(
    page: PageBlocks, elements: list[int], get_key: Callable[[tuple[int, ...]], Hashable]
) -> PostGroups:
    groups: PostGroups = {}
    for at in elements:
        groups.setdefault(get_key(page.elements[at]), []).append(at)
    return groups


def _count_chars_before(page: PageBlocks, kept: frozenset[int]) -> list[int]:
    """Of each block, and the end, how many characters were chosen before it."""
    chars = [0] * len(page.texts)
    for block in kept:
        chars[block] = len(page.texts[block])
    return [0, *accumulate(chars)]


def _find_opening_post(page: PageBlocks, similar: list[int], posts: list[int]) -> list[int]:
    """What stands before the posts and is called so too, but looks otherwise: a question before its answers."""
    first = page.elements[posts[0]][5]
    before = [
        at for at in similar if at < posts[0] and page.last[at] <= first and next(_iter_name_candidates(page, at), None)
    ]
    return [at for at in before if not _has_nested_posts(page, at, before)][-1:]


def _find_largest_group(page: PageBlocks, chars: list[int], groups: list[list[int]]) -> list[int]:
    """The posts of the group that holds most of what was chosen."""
    max_posts = 2_000
    best: list[int] = []
    weight = 0
    for members in groups:
        if not MIN_POSTS <= len(members) <= max_posts or _count_chosen_chars(page, chars, members) <= weight:
            continue
        told = [
            each for each in members if each in page.signed_authors or next(_iter_name_candidates(page, each), None)
        ]
        posts = [each for each in told if not _has_nested_posts(page, each, members)]
        size = _count_chosen_chars(page, chars, posts)
        if len(posts) >= MIN_POSTS and size > weight:
            best, weight = posts, size
    return best


def _count_chosen_chars(page: PageBlocks, chars: list[int], members: list[int]) -> int:
    """How much of what was chosen these elements hold."""
    return sum([chars[page.last[each]] - chars[page.elements[each][5]] for each in members])


def _block_range(page: PageBlocks, element: int) -> range:
    return range(page.elements[element][5], page.last[element])


def _has_nested_posts(page: PageBlocks, element: int, members: list[int]) -> bool:
    """Whether an element holds another of its kind right away, as lists of posts in posts do: it is no post itself."""
    return any(page.elements[other][0] == element for other in members[:50])


def _find_authors(page: PageBlocks, posts: list[int]) -> dict[int, str]:
    """The author of each post: the name that stands where most posts have the likeliest one.

    Beside names stand ranks, titles, whether somebody is there, and who else was answered; each of them in some of the
    posts only, or with no address of its own. A post that has nothing there is told by a name with an address.
    """
    rank_weights = (1, 2, 4, 16)
    found = {post: list(_iter_name_candidates(page, post)) for post in posts}
    votes: Counter[int] = Counter()
    for names in found.values():
        ranks: dict[int, int] = {}
        for rank, place, _ in names:
            ranks[place] = max(rank, ranks.get(place, 0))
        for place, rank in ranks.items():
            votes[place] += rank_weights[rank]
    best = max(votes, key=votes.__getitem__, default=-1)
    return {post: page.signed_authors.get(post) or _choose_author(names, best) for post, names in found.items()}


def _choose_author(names: list[tuple[int, int, str]], signature: int) -> str:
    """The best name at a place, or else the first of those that have addresses; empty if there is neither."""
    there = [(rank, name) for rank, place, name in names if place == signature]
    there = there or [(rank, name) for rank, _, name in names if rank >= PROFILE_NAME]
    return max(there, key=lambda each: each[0])[1].rstrip(" :,") if there else ""


def _iter_name_candidates(page: PageBlocks, post: int) -> Iterator[tuple[int, int, str]]:
    """Of the short blocks that a post begins with, the names: how likely each is, where it stands, and itself.

    Whom the post mentions is who was answered, not who wrote it.
    """
    max_byline_chars = 120  # characters of a block that says who wrote what follows
    blocks = _block_range(page, post)[:HEAD_BLOCKS]
    mentioned = {
        name for block in blocks if "@" in page.texts[block] for name in MENTION_PATTERN.findall(page.texts[block])
    }
    for block in blocks:
        text, row = page.texts[block], page.rows[block]
        if len(text) > max_byline_chars:
            continue
        place = page.elements[row[0]][4]
        person = bool(row[7] & PERSON_BITS) or _is_person_element(page, row[0], post)
        names = [name for name, address in _iter_links(page, block) if _is_profile_link(name, address, person=person)]
        names = [name for name in names if name not in mentioned and (name[0] != "@" or name == text)]
        if names:
            yield DECLARED_NAME if _is_declared_author(page, row[0]) else PROFILE_NAME, place, names[0]
        elif person and _is_person_name(named := page.first_link_words.get(block, "")):
            yield LINKED_NAME, place, named
        elif person and not named and _is_person_name(text) and not _is_label_element(page, row[0]):
            yield DECLARED_NAME if _is_declared_author(page, row[0]) else PLAIN_NAME, place, text


def _iter_links(page: PageBlocks, block: int) -> Iterator[tuple[str, str]]:
    """Words and address of each link that begins in a block."""
    at = bisect_left(page.links, block, key=itemgetter(1))
    for address, begun, words in page.links[max(0, at - 2) : at + 5]:
        if begun == block:
            yield " ".join(words.split()), address


def _is_profile_link(name: str, address: str, *, person: bool) -> bool:
    """Whether a name leads to an address that holds it, and is marked as a person's or leads to a person."""
    if not 1 < len(name) <= MAX_NAME_CHARS or not any(map(str.isalpha, name)):
        return False
    if not person and not PROFILE_URL.search(address):
        return False
    return NON_WORD.sub("", name.lower()) in NON_WORD.sub("", address.lower())


def _is_declared_author(page: PageBlocks, element: int) -> bool:
    """Whether an element, or one of the two around it, is marked as naming the author."""
    for _ in range(3):
        if element in page.authors:
            return True
        element = page.elements[element][0]
    return False


def _is_label_element(page: PageBlocks, element: int) -> bool:
    """Whether an element is a term of a list, or somebody's title."""
    return page.elements[element][1] in LABEL_TAGS or "title" in page.names[element].lower()


def _is_person_name(text: str) -> bool:
    return 1 < len(text) <= MAX_NAME_CHARS and any(map(str.isalpha, text)) and not DATE_PATTERN.search(text)


def _is_person_element(page: PageBlocks, at: int, above: int) -> bool:
    """Whether an element, or one that it stands in up to the post, is about a person."""
    while at > above:
        if page.elements[at][2] & PERSON_BITS:
            return True
        at = page.elements[at][0]
    return False


def _date(page: PageBlocks, blocks: range) -> str:
    return next((page.times[block] for block in blocks if block in page.times), "")[:10]


def _shows_date(page: PageBlocks, blocks: range, kept: frozenset[int]) -> bool:
    """Whether the element that tells the time is among what was chosen."""
    return next((block in kept for block in blocks if block in page.times), False)
