"""Whether a sign of equality gives an attribute its value, wherever before it a tag may have begun.

What a tree builder takes for a script or a comment depends on all that it has built, which a page can make hard to
foretell. So a tag is supposed to begin at every `<` before a letter, and all that may then be so is followed at once,
byte by byte. The states are those of the HTML standard (sections 13.2.5.6 to 13.2.5.40), from the open tag on.
"""

import re

OPEN, NAME, BEFORE, ATTRIBUTE, AFTER, ASSIGNED, BARE, DOUBLE, SINGLE = (1 << each for each in range(9))
STATES = (OPEN, NAME, BEFORE, ATTRIBUTE, AFTER, ASSIGNED, BARE, DOUBLE, SINGLE)
WHITE, LETTER, SLASH, BEGIN, END, EQUAL = " ", "a", "/", "<", ">", "="
LEFT = 0  # the tag has ended, or was none
ANY, VALUED = sum(STATES), ATTRIBUTE | AFTER
NEAR = 3_000  # bytes before a place
STRIDE = 16  # bytes that are followed one by one before a run is looked for
# Where each state goes at which sign; at any other it goes to what stands behind "".
STEPS: dict[int, dict[str, int]] = {
    OPEN: {LETTER: NAME, SLASH: OPEN, "": LEFT},
    NAME: {WHITE: BEFORE, SLASH: BEFORE, END: LEFT, "": NAME},
    BEFORE: {WHITE: BEFORE, SLASH: BEFORE, END: LEFT, "": ATTRIBUTE},
    ATTRIBUTE: {WHITE: AFTER, SLASH: BEFORE, END: LEFT, EQUAL: ASSIGNED, "": ATTRIBUTE},
    AFTER: {WHITE: AFTER, SLASH: BEFORE, END: LEFT, EQUAL: ASSIGNED, "": ATTRIBUTE},
    ASSIGNED: {WHITE: ASSIGNED, END: LEFT, '"': DOUBLE, "'": SINGLE, "": BARE},
    BARE: {WHITE: BEFORE, END: LEFT, "": BARE},
    DOUBLE: {'"': BEFORE, "": DOUBLE},
    SINGLE: {"'": BEFORE, "": SINGLE},
}

# What changes nothing where sources stay for long: in scripts and texts, and in values.
RUNS = {LEFT: re.compile(rb"[^<]*"), DOUBLE: re.compile(rb'[^"<]*'), BARE: re.compile(rb"[^\t\n\f\r ><]*")}


class Assigning:
    """Follows a source; asked about places in order, it looks at each byte twice at most.

    First it begins a little before the place, as if anything could be so there: most of what could not be shows soon.
    Only what still may be so is followed from the source's beginning on.

    Args:
        source: The source.
    """

    def __init__(self, source: bytes) -> None:
        self._near = _Follower(source)
        self._whole = _Follower(source)

    def at(self, place: int) -> bool:
        """Whether the `=` there may stand between an attribute's name and its value."""
        if place - self._near.at > NEAR:
            self._near.at, self._near.states = place - NEAR, ANY
        return bool(self._near.follow(place) & VALUED) and bool(self._whole.follow(place) & VALUED)

    def ended(self, at: int) -> None:
        """What follows is left out until there, with a `>` in its place."""
        for each in (self._near, self._whole):
            each.at, each.states = at, ROWS[each.states][ord(END)]


class _Follower:
    """What may be so at a place in a source."""

    __slots__ = ("at", "source", "states")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.at = self.states = 0

    def follow(self, place: int) -> int:
        """The states at a place."""
        states, rows, source, at = self.states, ROWS, self.source, self.at
        while at < place:
            if (run := RUNS.get(states)) and (found := run.match(source, at, place)):
                at = found.end()
            for code in source[at : min(at + STRIDE, place)]:
                states = rows[states][code]
            at += STRIDE
        self.at, self.states = max(place, self.at), states
        return states


class _Rows(dict[int, list[int]]):
    """Where each set of states goes at each byte, found when it is first needed: at most 512 sets."""

    def __missing__(self, states: int) -> list[int]:
        row = self[states] = [_next(states, chr(code)) for code in range(256)]
        return row


def _next(states: int, sign: str) -> int:
    kind = LETTER if "a" <= sign.lower() <= "z" else WHITE if sign in "\t\n\r\f" else sign
    after = OPEN if kind == BEGIN else LEFT
    for state in STATES:
        if states & state:
            after |= STEPS[state].get(kind, STEPS[state][""])
    return after


ROWS = _Rows()
