"""Posts of a discussion: who wrote each, and when, by what the page marks as such."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter

from outrider.pages.content.walking.blocks import NUMBER as TAG_NUMBER
from outrider.pages.content.walking.blocks import Blocks
from outrider.pages.content.walking.words import NUMBER

POST = sum(1 << NUMBER[name] for name in ("message", "comment", "post"))
PERSON = sum(1 << NUMBER[name] for name in ("author", "user"))
FEWEST = 2  # posts of a discussion
MOST = 2_000
LABELS = frozenset({TAG_NUMBER["dt"], TAG_NUMBER["dd"]})
ODD = re.compile(r"[\W_]+")
NAME = 40  # characters of a name
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\d.*\d:\d\d")
PROFILE = re.compile(
    r"/(?:u|users?|members?|profiles?|authors?|people)/|(?:^|/)(?:user|member|profile)(?:\.php)?\?", re.IGNORECASE
)
CALLED = re.compile(r"(?:^|\s)comtr(?:\s|$)")  # a post by a name that is no word
MENTION = re.compile(r"(?<!\w)@([\w.-]+)")
BYLINE = 120  # characters of a block that says who wrote what follows
HEAD = 16  # blocks of a post that are looked at
Groups = dict[Hashable, list[int]]
PLAIN, LINKED, ADDRESSED, DECLARED = range(4)  # how likely a name is the author's
WEIGHTS = (1, 2, 4, 16)


def posts_of(page: Blocks, chosen: list[int]) -> dict[int, str]:
    """The author of each post that what was chosen consists of, in order; empty where it is no discussion."""
    if not page.times and not page.signed and not _names_people(page):
        return {}
    return _authors(page, _posts(page, frozenset(chosen)))


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a post: what the chosen blocks do not say of it, and where that leads.

    Attributes:
        name: Of the author; empty if the post says it.
        date: In ISO format; empty if the post says it.
        profile, place: The addresses that name and date lead to; empty if they lead nowhere.
    """

    name: str
    date: str
    profile: str = ""
    place: str = ""

    def __str__(self) -> str:
        return " \u00b7 ".join(filter(None, (self.name, self.date)))


def heads_of(page: Blocks, chosen: list[int], posts: dict[int, str]) -> dict[int, Head]:
    """Of the first chosen block of each post, its author and date, as far as the chosen blocks do not say them."""
    kept = frozenset(chosen)
    heads: dict[int, Head] = {}
    for element, author in posts.items():
        blocks = _range(page, element)
        first = next((block for block in blocks if block in kept), -1)
        said = " ".join([page.texts[block] for block in blocks if block in kept][:3])
        name = author if author and author not in said else ""
        date = "" if _dated(page, blocks, kept) else _date(page, blocks)
        if first >= 0 and (name or date):
            heads[first] = Head(name, date, _profile(page, blocks, name), _place(page, blocks) if date else "")
    return heads


def _profile(page: Blocks, blocks: range, name: str) -> str:
    """Where the author's name leads."""
    links = (link for block in blocks[:HEAD] if name for link in _links(page, block))
    return next((address for words, address in links if words.rstrip(" :,").removeprefix("@") == name), "")


def _place(page: Blocks, blocks: range) -> str:
    """Where the time of a post leads, if that is all that the link says."""
    at = next((block for block in blocks if block in page.times), -1)
    links = list(_links(page, at)) if at >= 0 else []
    return next((address for words, address in links if words and words == page.texts[at]), "")


def opener_of(page: Blocks, posts: dict[int, str]) -> tuple[str, str]:
    """Author and date of the first post, of what the page marks as such; either may be empty."""
    if not posts:
        return "", ""
    first = min(posts)
    return posts[first], next((page.times[at] for at in _range(page, first) if at in page.times), "")


def _names_people(page: Blocks) -> bool:
    """Whether any class or id of the page speaks of a person."""
    return any(row[7] & PERSON for row in page.rows) or any(row[2] & PERSON for row in page.elements)


def _posts(page: Blocks, kept: frozenset[int]) -> list[int]:
    """The elements that look alike, are called posts or signed, and hold most of what was chosen.

    Where each has a class of its own, they look alike by their tags and by what their names mean.
    """
    called = [at for at, row in enumerate(page.elements) if row[2] & POST and page.last[at] > row[5]]
    strictly, loosely = _grouped(page, called, itemgetter(4)), _grouped(page, called, itemgetter(1, 2))
    signed = [at for at in page.signed if page.last[at] > page.elements[at][5]]
    others = [at for at, names in enumerate(page.names) if CALLED.search(names)] if _may_call(page.names) else []
    if not called and not signed and not others:
        return []
    if max(map(len, (signed, others, *strictly.values(), *loosely.values())), default=0) < FEWEST:
        return []
    chars = _chars_before(page, kept)
    found = _largest(page, chars, [signed, others, *strictly.values()])
    if not found:
        return _largest(page, chars, list(loosely.values()))
    return [*_openers(page, loosely.get(page.elements[found[0]][1:3], []), found), *found]


def _may_call(names: list[str]) -> bool:
    return "comtr" in "\n".join(names)


def _grouped(page: Blocks, called: list[int], likeness: Callable[[tuple[int, ...]], Hashable]) -> Groups:
    groups: Groups = {}
    for at in called:
        groups.setdefault(likeness(page.elements[at]), []).append(at)
    return groups


def _chars_before(page: Blocks, kept: frozenset[int]) -> list[int]:
    """Of each block, and the end, how many characters were chosen before it."""
    chars = [0] * len(page.texts)
    for block in kept:
        chars[block] = len(page.texts[block])
    return [0, *accumulate(chars)]


def _openers(page: Blocks, alike: list[int], posts: list[int]) -> list[int]:
    """What stands before the posts and is called so too, but looks otherwise: a question before its answers."""
    first = page.elements[posts[0]][5]
    before = [at for at in alike if at < posts[0] and page.last[at] <= first and next(_candidates(page, at), None)]
    return [at for at in before if not _nested(page, at, before)][-1:]


def _largest(page: Blocks, chars: list[int], groups: list[list[int]]) -> list[int]:
    """The posts of the group that holds most of what was chosen."""
    best: list[int] = []
    weight = 0
    for members in groups:
        if not FEWEST <= len(members) <= MOST or _held(page, chars, members) <= weight:
            continue
        told = [each for each in members if each in page.signed or next(_candidates(page, each), None)]
        posts = [each for each in told if not _nested(page, each, members)]
        size = _held(page, chars, posts)
        if len(posts) >= FEWEST and size > weight:
            best, weight = posts, size
    return best


def _held(page: Blocks, chars: list[int], members: list[int]) -> int:
    """How much of what was chosen these elements hold."""
    return sum([chars[page.last[each]] - chars[page.elements[each][5]] for each in members])


def _range(page: Blocks, element: int) -> range:
    return range(page.elements[element][5], page.last[element])


def _nested(page: Blocks, element: int, members: list[int]) -> bool:
    """Whether an element holds another of its kind right away, as lists of posts in posts do: it is no post itself."""
    return any(page.elements[other][0] == element for other in members[:50])


def _authors(page: Blocks, posts: list[int]) -> dict[int, str]:
    """The author of each post: the name that stands where most posts have the likeliest one.

    Beside names stand ranks, titles, whether somebody is there, and who else was answered; each of them in some of the
    posts only, or with no address of its own. A post that has nothing there is told by a name with an address.
    """
    found = {post: list(_candidates(page, post)) for post in posts}
    votes: Counter[int] = Counter()
    for names in found.values():
        ranks: dict[int, int] = {}
        for rank, place, _ in names:
            ranks[place] = max(rank, ranks.get(place, 0))
        for place, rank in ranks.items():
            votes[place] += WEIGHTS[rank]
    best = max(votes, key=votes.__getitem__, default=-1)
    return {post: page.signed.get(post) or _likeliest(names, best) for post, names in found.items()}


def _likeliest(names: list[tuple[int, int, str]], best: int) -> str:
    """The best name at a place, or else the first of those that have addresses; empty if there is neither."""
    there = [(rank, name) for rank, place, name in names if place == best]
    there = there or [(rank, name) for rank, _, name in names if rank >= ADDRESSED]
    return max(there, key=lambda each: each[0])[1].rstrip(" :,") if there else ""


def _candidates(page: Blocks, post: int) -> Iterator[tuple[int, int, str]]:
    """Of the short blocks that a post begins with, the names: how likely each is, where it stands, and itself.

    Whom the post mentions is who was answered, not who wrote it.
    """
    blocks = _range(page, post)[:HEAD]
    mentioned = {name for block in blocks if "@" in page.texts[block] for name in MENTION.findall(page.texts[block])}
    for block in blocks:
        text, row = page.texts[block], page.rows[block]
        if len(text) > BYLINE:
            continue
        place = page.elements[row[0]][4]
        person = bool(row[7] & PERSON) or _marked(page, row[0], post)
        names = [name for name, address in _links(page, block) if _is_addressed(name, address, person=person)]
        names = [name for name in names if name not in mentioned and (name[0] != "@" or name == text)]
        if names:
            yield DECLARED if _declared(page, row[0]) else ADDRESSED, place, names[0]
        elif person and _is_name(named := page.named.get(block, "")):
            yield LINKED, place, named
        elif person and not named and _is_name(text) and not _is_label(page, row[0]):
            yield DECLARED if _declared(page, row[0]) else PLAIN, place, text


def _links(page: Blocks, block: int) -> Iterator[tuple[str, str]]:
    """Words and address of each link that begins in a block."""
    at = bisect_left(page.links, block, key=itemgetter(1))
    for address, begun, words in page.links[max(0, at - 2) : at + 5]:
        if begun == block:
            yield " ".join(words.split()), address


def _is_addressed(name: str, address: str, *, person: bool) -> bool:
    """Whether a name leads to an address that holds it, and is marked as a person's or leads to a person."""
    if not 1 < len(name) <= NAME or not any(map(str.isalpha, name)):
        return False
    if not person and not PROFILE.search(address):
        return False
    return ODD.sub("", name.lower()) in ODD.sub("", address.lower())


def _declared(page: Blocks, element: int) -> bool:
    """Whether an element, or one of the two around it, is marked as naming the author."""
    for _ in range(3):
        if element in page.authors:
            return True
        element = page.elements[element][0]
    return False


def _is_label(page: Blocks, element: int) -> bool:
    """Whether an element is a term of a list, or somebody's title."""
    return page.elements[element][1] in LABELS or "title" in page.names[element].lower()


def _is_name(text: str) -> bool:
    return 1 < len(text) <= NAME and any(map(str.isalpha, text)) and not YEAR.search(text)


def _marked(page: Blocks, at: int, above: int) -> bool:
    """Whether an element, or one that it stands in up to the post, is about a person."""
    while at > above:
        if page.elements[at][2] & PERSON:
            return True
        at = page.elements[at][0]
    return False


def _date(page: Blocks, blocks: range) -> str:
    return next((page.times[block] for block in blocks if block in page.times), "")[:10]


def _dated(page: Blocks, blocks: range, kept: frozenset[int]) -> bool:
    """Whether the element that tells the time is among what was chosen."""
    return next((block in kept for block in blocks if block in page.times), False)
