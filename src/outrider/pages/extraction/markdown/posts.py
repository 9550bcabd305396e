"""Find a discussion's posts, with author and date, by their markup."""

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
MIN_POSTS = 2
LABEL_TAGS = frozenset({TAG_NUMBER["dt"], TAG_NUMBER["dd"]})
NON_WORD = re.compile(r"[\W_]+")
MAX_NAME_CHARS = 40
DATE_PATTERN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\d.*\d:\d\d")
PROFILE_URL = re.compile(
    r"/(?:u|users?|members?|profiles?|authors?|people)/|(?:^|/)(?:user|member|profile)(?:\.php)?\?", re.IGNORECASE
)
POST_CLASS = re.compile(r"(?:^|\s)comtr(?:\s|$)")  # posts of Hacker News
MENTION_PATTERN = re.compile(r"(?<!\w)@([\w.-]+)")
HEAD_BLOCKS = 16  # of a post, in which its author is named
PostGroups = dict[Hashable, list[int]]
PLAIN_NAME, LINKED_NAME, PROFILE_NAME, DECLARED_NAME = range(4)  # how likely a name is the author's


def find_posts(page: PageBlocks, chosen: list[int]) -> dict[int, str]:
    """Return the author of each post among the chosen blocks by its element, or {} without a discussion.

    This is the name in the place where most posts have the likeliest one. Names are surrounded by ranks, titles,
    presence and the names of other users, but each of these appears in some posts only, or without an address. A post
    without a name in that place has the first name with an address.
    """
    rank_weights = (1, 2, 4, 16)
    if not page.times and not page.signed_authors:
        has_person_class = any(row[7] & PERSON_BITS for row in page.rows)
        if not has_person_class and not any(row[2] & PERSON_BITS for row in page.elements):
            return {}
    posts = _find_post_elements(page, frozenset(chosen))
    candidates = {post: list(_iter_name_candidates(page, post)) for post in posts}
    votes: Counter[int] = Counter()
    for names in candidates.values():
        ranks: dict[int, int] = {}
        for rank, place, _ in names:
            ranks[place] = max(rank, ranks.get(place, 0))
        for place, rank in ranks.items():
            votes[place] += rank_weights[rank]
    best_place = max(votes, key=votes.__getitem__, default=-1)
    authors = {}
    for post, names in candidates.items():
        in_place = [(rank, name) for rank, place, name in names if place == best_place]
        in_place = in_place or [(rank, name) for rank, _, name in names if rank >= PROFILE_NAME]
        name = max(in_place, key=itemgetter(0))[1].rstrip(" :,") if in_place else ""
        authors[post] = page.signed_authors.get(post) or name
    return authors


@dataclass(frozen=True, slots=True)
class PostHead:
    """The author and date before a post that its own text lacks.

    Attributes:
        name: The author, or "".
        date: In ISO format, or "".
        profile_url: Address that the author's name links to, or "".
        permalink: Address that the date links to, or "".
    """

    name: str
    date: str
    profile_url: str = ""
    permalink: str = ""

    def __str__(self) -> str:
        return " \u00b7 ".join(filter(None, (self.name, self.date)))


def build_post_heads(page: PageBlocks, chosen: list[int], posts: dict[int, str]) -> dict[int, PostHead]:
    """Return the head of each post by its first chosen block."""
    kept = frozenset(chosen)
    heads: dict[int, PostHead] = {}
    for element, author in posts.items():
        blocks = _block_range(page, element)
        first = next((block for block in blocks if block in kept), -1)
        text = " ".join([page.texts[block] for block in blocks if block in kept][:3])
        name = author if author and author not in text else ""
        time_block = next((block for block in blocks if block in page.times), -1)
        date = page.times[time_block][:10] if time_block >= 0 and time_block not in kept else ""
        if first >= 0 and (name or date):
            links = [link for block in blocks[:HEAD_BLOCKS] for link in _iter_links(page, block)] if name else []
            profile_urls = [address for words, address in links if words.rstrip(" :,").removeprefix("@") == name]
            links = list(_iter_links(page, time_block)) if date else []
            # The link of the time leads to the post if it holds nothing else.
            permalinks = [address for words, address in links if words and words == page.texts[time_block]]
            heads[first] = PostHead(name, date, next(iter(profile_urls), ""), next(iter(permalinks), ""))
    return heads


def get_opening_post(page: PageBlocks, posts: dict[int, str]) -> tuple[str, str]:
    """Return author and date of the first post; either may be ""."""
    if not posts:
        return "", ""
    first = min(posts)
    return posts[first], next((page.times[at] for at in _block_range(page, first) if at in page.times), "")


def _find_post_elements(page: PageBlocks, kept: frozenset[int]) -> list[int]:
    """Return similar elements that hold most of the chosen text.

    They are named or signed as posts.

    If each post has its own classes, posts look alike by tags and by the categories of their names.
    """
    elements, last = page.elements, page.last
    named = [element for element, row in enumerate(elements) if row[2] & POST_BITS and last[element] > row[5]]
    by_signature = _group_elements(page, named, itemgetter(4))
    by_category = _group_elements(page, named, itemgetter(1, 2))
    signed = [element for element in page.signed_authors if last[element] > elements[element][5]]
    others = list[int]()
    if "comtr" in "\n".join(page.names):  # a quick check, because few pages have this class
        others = [element for element, names in enumerate(page.names) if POST_CLASS.search(names)]
    groups = [signed, others, *by_signature.values()]
    if max(map(len, (*groups, *by_category.values())), default=0) < MIN_POSTS:
        return []
    # The chosen characters before each block, and before the end
    chars = [0, *accumulate(len(text) if block in kept else 0 for block, text in enumerate(page.texts))]
    posts = _find_largest_group(page, chars, groups)
    if not posts:
        return _find_largest_group(page, chars, list(by_category.values()))
    # A post before the others, with a similar name but another look, is the question before its answers.
    before = [
        element
        for element in by_category.get(elements[posts[0]][1:3], [])
        if element < posts[0] and last[element] <= elements[posts[0]][5] and any(_iter_name_candidates(page, element))
    ]
    return [*[element for element in before if not _has_nested_posts(page, element, before)][-1:], *posts]


def _group_elements(
    page: PageBlocks, elements: list[int], get_key: Callable[[tuple[int, ...]], Hashable]
) -> PostGroups:
    groups: PostGroups = {}
    for element in elements:
        groups.setdefault(get_key(page.elements[element]), []).append(element)
    return groups


def _find_largest_group(page: PageBlocks, chars: list[int], groups: list[list[int]]) -> list[int]:
    """Return the posts of the group that holds most of the chosen text."""
    max_posts = 2_000
    best: list[int] = []
    best_size = 0
    for members in groups:
        if not MIN_POSTS <= len(members) <= max_posts or _count_chosen_chars(page, chars, members) <= best_size:
            continue
        named = [
            element
            for element in members
            if element in page.signed_authors or next(_iter_name_candidates(page, element), None)
        ]
        posts = [element for element in named if not _has_nested_posts(page, element, members)]
        size = _count_chosen_chars(page, chars, posts)
        if len(posts) >= MIN_POSTS and size > best_size:
            best, best_size = posts, size
    return best


def _count_chosen_chars(page: PageBlocks, chars: list[int], members: list[int]) -> int:
    return sum([chars[page.last[element]] - chars[page.elements[element][5]] for element in members])


def _block_range(page: PageBlocks, element: int) -> range:
    return range(page.elements[element][5], page.last[element])


def _has_nested_posts(page: PageBlocks, element: int, members: list[int]) -> bool:
    """Return whether an element directly holds another of the group, as lists of replies do."""
    return any(page.elements[other][0] == element for other in members[:50])


def _iter_name_candidates(page: PageBlocks, post: int) -> Iterator[tuple[int, int, str]]:
    """Yield the names in the short blocks at the beginning of a post: likelihood, place and name.

    Users whom the post mentions are those it replies to.
    """
    max_byline_chars = 120
    blocks = _block_range(page, post)[:HEAD_BLOCKS]
    mentioned = {
        name for block in blocks if "@" in page.texts[block] for name in MENTION_PATTERN.findall(page.texts[block])
    }
    for block in blocks:
        text, row = page.texts[block], page.rows[block]
        if len(text) > max_byline_chars:
            continue
        element = row[0]
        place = page.elements[element][4]
        is_person = bool(row[7] & PERSON_BITS) or _is_person_element(page, element, post)
        plain_rank = DECLARED_NAME if _is_declared_author(page, element) else PLAIN_NAME
        names = [
            name for name, address in _iter_links(page, block) if _is_profile_link(name, address, is_person=is_person)
        ]
        names = [name for name in names if name not in mentioned and (name[0] != "@" or name == text)]
        if names:
            yield max(plain_rank, PROFILE_NAME), place, names[0]
        elif is_person and _is_person_name(linked := page.first_link_words.get(block, "")):
            yield LINKED_NAME, place, linked
        elif is_person and not linked and _is_person_name(text):
            is_label = page.elements[element][1] in LABEL_TAGS or "title" in page.names[element].lower()
            if not is_label:
                yield plain_rank, place, text


def _iter_links(page: PageBlocks, block: int) -> Iterator[tuple[str, str]]:
    """Yield words and address of each link that begins in a block."""
    at = bisect_left(page.links, block, key=itemgetter(1))
    for address, first_block, words in page.links[max(0, at - 2) : at + 5]:
        if first_block == block:
            yield " ".join(words.split()), address


def _is_profile_link(name: str, address: str, *, is_person: bool) -> bool:
    """Return whether a name links to a person's address.

    The address must contain the name.
    """
    if not 1 < len(name) <= MAX_NAME_CHARS or not any(map(str.isalpha, name)):
        return False
    if not is_person and not PROFILE_URL.search(address):
        return False
    return NON_WORD.sub("", name.lower()) in NON_WORD.sub("", address.lower())


def _is_declared_author(page: PageBlocks, element: int) -> bool:
    """Return whether an element or one of the two around it is marked as naming the author."""
    for _ in range(3):
        if element in page.authors:
            return True
        element = page.elements[element][0]
    return False


def _is_person_name(text: str) -> bool:
    return 1 < len(text) <= MAX_NAME_CHARS and any(map(str.isalpha, text)) and not DATE_PATTERN.search(text)


def _is_person_element(page: PageBlocks, element: int, post: int) -> bool:
    """Return whether an element, or one around it inside the post, is about a person."""
    while element > post:
        if page.elements[element][2] & PERSON_BITS:
            return True
        element = page.elements[element][0]
    return False
