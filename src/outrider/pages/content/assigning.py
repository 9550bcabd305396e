"""Whether a sign of equality gives an attribute its value, wherever before it a tag may have begun.

What a tree builder takes for a script or a comment depends on all that it has built, which a page can make hard to
foretell. So a tag is supposed to begin at every `<` before a letter, and all that may then be so is followed at once,
byte by byte. The states are those of the HTML standard (sections 13.2.5.6 to 13.2.5.40), from the open tag on.
"""

OPEN, NAME, BEFORE, ATTRIBUTE, AFTER, ASSIGNED, BARE, DOUBLE, SINGLE = (1 << each for each in range(9))
STATES = (OPEN, NAME, BEFORE, ATTRIBUTE, AFTER, ASSIGNED, BARE, DOUBLE, SINGLE)
WHITE, LETTER, SLASH, BEGIN, END, EQUAL = " ", "a", "/", "<", ">", "="
LEFT = 0  # the tag has ended, or was none
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


class Assigning:
    """Follows a source; asked about places in order, it looks at each byte once.

    Args:
        source: The source.
    """

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._at = self._states = 0

    def at(self, place: int) -> bool:
        """Whether the `=` there may stand between an attribute's name and its value."""
        states, rows = self._states, ROWS
        for code in self._source[self._at : place]:
            states = rows[states][code]
        self._at, self._states = max(place, self._at), states
        return bool(states & (ATTRIBUTE | AFTER))

    def ended(self, at: int) -> None:
        """What follows is left out until there, with a `>` in its place."""
        self._at, self._states = at, ROWS[self._states][ord(END)]


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
