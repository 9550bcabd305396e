"""Whether a sign of equality gives an attribute its value, wherever before it a tag may have begun.

What a tree builder takes for a script or a comment depends on all that it has built, which a page can make hard to
foretell. So a tag is supposed to begin at every `<` before a letter, and all that may then be so is followed at once,
byte by byte. The states are those of the HTML standard (sections 13.2.5.6 to 13.2.5.40), from the open tag on.
"""

import re

(
    TAG_OPEN,
    TAG_NAME,
    BEFORE_ATTRIBUTE_NAME,
    ATTRIBUTE_NAME,
    AFTER_ATTRIBUTE_NAME,
    BEFORE_VALUE,
    UNQUOTED_VALUE,
    DOUBLE_QUOTED_VALUE,
    SINGLE_QUOTED_VALUE,
) = (1 << each for each in range(9))
TOKENIZER_STATES = (
    TAG_OPEN,
    TAG_NAME,
    BEFORE_ATTRIBUTE_NAME,
    ATTRIBUTE_NAME,
    AFTER_ATTRIBUTE_NAME,
    BEFORE_VALUE,
    UNQUOTED_VALUE,
    DOUBLE_QUOTED_VALUE,
    SINGLE_QUOTED_VALUE,
)
SPACE_CHAR, LETTER_CHAR, SLASH_CHAR, LESS_THAN_CHAR, GREATER_THAN_CHAR, EQUALS_CHAR = " ", "a", "/", "<", ">", "="
OUTSIDE_TAG = 0  # the tag has ended, or was none
ALL_STATES, VALUE_MAY_FOLLOW = sum(TOKENIZER_STATES), ATTRIBUTE_NAME | AFTER_ATTRIBUTE_NAME
# Where each state goes at which sign; at any other it goes to what stands behind "".
STATE_TRANSITIONS: dict[int, dict[str, int]] = {
    TAG_OPEN: {LETTER_CHAR: TAG_NAME, SLASH_CHAR: TAG_OPEN, "": OUTSIDE_TAG},
    TAG_NAME: {
        SPACE_CHAR: BEFORE_ATTRIBUTE_NAME,
        SLASH_CHAR: BEFORE_ATTRIBUTE_NAME,
        GREATER_THAN_CHAR: OUTSIDE_TAG,
        "": TAG_NAME,
    },
    BEFORE_ATTRIBUTE_NAME: {
        SPACE_CHAR: BEFORE_ATTRIBUTE_NAME,
        SLASH_CHAR: BEFORE_ATTRIBUTE_NAME,
        GREATER_THAN_CHAR: OUTSIDE_TAG,
        "": ATTRIBUTE_NAME,
    },
    ATTRIBUTE_NAME: {
        SPACE_CHAR: AFTER_ATTRIBUTE_NAME,
        SLASH_CHAR: BEFORE_ATTRIBUTE_NAME,
        GREATER_THAN_CHAR: OUTSIDE_TAG,
        EQUALS_CHAR: BEFORE_VALUE,
        "": ATTRIBUTE_NAME,
    },
    AFTER_ATTRIBUTE_NAME: {
        SPACE_CHAR: AFTER_ATTRIBUTE_NAME,
        SLASH_CHAR: BEFORE_ATTRIBUTE_NAME,
        GREATER_THAN_CHAR: OUTSIDE_TAG,
        EQUALS_CHAR: BEFORE_VALUE,
        "": ATTRIBUTE_NAME,
    },
    BEFORE_VALUE: {
        SPACE_CHAR: BEFORE_VALUE,
        GREATER_THAN_CHAR: OUTSIDE_TAG,
        '"': DOUBLE_QUOTED_VALUE,
        "'": SINGLE_QUOTED_VALUE,
        "": UNQUOTED_VALUE,
    },
    UNQUOTED_VALUE: {SPACE_CHAR: BEFORE_ATTRIBUTE_NAME, GREATER_THAN_CHAR: OUTSIDE_TAG, "": UNQUOTED_VALUE},
    DOUBLE_QUOTED_VALUE: {'"': BEFORE_ATTRIBUTE_NAME, "": DOUBLE_QUOTED_VALUE},
    SINGLE_QUOTED_VALUE: {"'": BEFORE_ATTRIBUTE_NAME, "": SINGLE_QUOTED_VALUE},
}

# What changes nothing where sources stay for long: in scripts and texts, and in values.
SELF_LOOP_PATTERNS = {
    OUTSIDE_TAG: re.compile(rb"[^<]*"),
    DOUBLE_QUOTED_VALUE: re.compile(rb'[^"<]*'),
    UNQUOTED_VALUE: re.compile(rb"[^\t\n\f\r ><]*"),
}


class AttributeValueTracker:
    """Follows a source; asked about places in order, it looks at each byte twice at most.

    First it begins a little before the place, as if anything could be so there: most of what could not be shows soon.
    Only what still may be so is followed from the source's beginning on.

    Args:
        source: The source.
    """

    def __init__(self, source: bytes) -> None:
        self._nearby = _StateFollower(source)
        self._whole = _StateFollower(source)

    def may_assign_value(self, place: int) -> bool:
        """Whether the `=` there may stand between an attribute's name and its value."""
        lookback_bytes = 3_000  # bytes before a place
        if place - self._nearby.offset > lookback_bytes:
            self._nearby.offset, self._nearby.states = place - lookback_bytes, ALL_STATES
        return bool(self._nearby.advance_to(place) & VALUE_MAY_FOLLOW) and bool(
            self._whole.advance_to(place) & VALUE_MAY_FOLLOW
        )

    def skip_to(self, at: int) -> None:
        """What follows is left out until there, with a `>` in its place."""
        for each in (self._nearby, self._whole):
            each.offset, each.states = at, TRANSITION_TABLE[each.states][ord(GREATER_THAN_CHAR)]


class _StateFollower:
    """What may be so at a place in a source."""

    __slots__ = ("offset", "source", "states")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.offset = self.states = 0

    def advance_to(self, place: int) -> int:
        """The states at a place."""
        stride_bytes = 16  # bytes that are followed one by one before a run is looked for
        states, rows, source, at = self.states, TRANSITION_TABLE, self.source, self.offset
        while at < place:
            if (run := SELF_LOOP_PATTERNS.get(states)) and (found := run.match(source, at, place)):
                at = found.end()
            for code in source[at : min(at + stride_bytes, place)]:
                states = rows[states][code]
            at += stride_bytes
        self.offset, self.states = max(place, self.offset), states
        return states


class _TransitionTable(dict[int, list[int]]):
    """Where each set of states goes at each byte, found when it is first needed: at most 512 sets."""

    def __missing__(self, states: int) -> list[int]:
        row = self[states] = [_find_next_states(states, chr(code)) for code in range(256)]
        return row


def _find_next_states(states: int, sign: str) -> int:
    kind = LETTER_CHAR if "a" <= sign.lower() <= "z" else SPACE_CHAR if sign in "\t\n\r\f" else sign
    after = TAG_OPEN if kind == LESS_THAN_CHAR else OUTSIDE_TAG
    for state in TOKENIZER_STATES:
        if states & state:
            after |= STATE_TRANSITIONS[state].get(kind, STATE_TRANSITIONS[state][""])
    return after


TRANSITION_TABLE = _TransitionTable()
