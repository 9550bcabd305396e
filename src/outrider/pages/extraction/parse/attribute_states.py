"""Decide whether an equals sign assigns an attribute's value.

The tag may have begun anywhere.

What a tree builder takes for a script or a comment depends on everything built before, which a page can make hard to
predict. So a tag may begin at every `<` before a letter, and all states that are then possible are followed at once,
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
) = (1 << bit for bit in range(9))
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
OUTSIDE_TAG = 0  # no state bit
ALL_STATES, VALUE_MAY_FOLLOW = sum(TOKENIZER_STATES), ATTRIBUTE_NAME | AFTER_ATTRIBUTE_NAME
# The next state by character; "" is any other character.
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

# Long runs without a state change: in scripts and texts, and in values.
SELF_LOOP_PATTERNS = {
    OUTSIDE_TAG: re.compile(rb"[^<]*"),
    DOUBLE_QUOTED_VALUE: re.compile(rb'[^"<]*'),
    UNQUOTED_VALUE: re.compile(rb"[^\t\n\f\r ><]*"),
}


class AttributeValueTracker:
    """Follow a source. Offsets must be asked in order, so that each byte is read at most twice.

    It first starts shortly before the offset with every state possible, which soon excludes most. Only what remains
    possible is followed from the beginning of the source.
    """

    def __init__(self, source: bytes) -> None:
        self._nearby = _StateFollower(source)
        self._whole = _StateFollower(source)

    def may_assign_value(self, offset: int) -> bool:
        """Return whether the `=` at this offset may separate an attribute's name and value."""
        lookback_bytes = 3_000
        if offset - self._nearby.offset > lookback_bytes:
            self._nearby.offset, self._nearby.states = offset - lookback_bytes, ALL_STATES
        return bool(self._nearby.advance_to(offset) & VALUE_MAY_FOLLOW) and bool(
            self._whole.advance_to(offset) & VALUE_MAY_FOLLOW
        )

    def skip_to(self, at: int) -> None:
        """Skip to an offset, as if everything before it were a `>`."""
        for follower in (self._nearby, self._whole):
            follower.offset, follower.states = at, TRANSITION_TABLE[follower.states][ord(GREATER_THAN_CHAR)]


class _StateFollower:
    """Follow the possible tokenizer states through a source."""

    __slots__ = ("offset", "source", "states")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.offset = self.states = 0

    def advance_to(self, target: int) -> int:
        """Return the possible states at an offset, as bits."""
        stride_bytes = 16  # followed one by one before the next search for a run
        states, rows, source, at = self.states, TRANSITION_TABLE, self.source, self.offset
        while at < target:
            if (run := SELF_LOOP_PATTERNS.get(states)) and (match := run.match(source, at, target)):
                at = match.end()
            for code in source[at : min(at + stride_bytes, target)]:
                states = rows[states][code]
            at += stride_bytes
        self.offset, self.states = max(target, self.offset), states
        return states


class _TransitionTable(dict[int, list[int]]):
    """Next states by current states and byte, computed when first needed.

    At most 512 combinations are kept.
    """

    def __missing__(self, states: int) -> list[int]:
        row = []
        for letter in map(chr, range(256)):
            is_letter = "a" <= letter.lower() <= "z"
            character = LETTER_CHAR if is_letter else SPACE_CHAR if letter in "\t\n\r\f" else letter
            next_states = TAG_OPEN if character == LESS_THAN_CHAR else OUTSIDE_TAG
            for state in TOKENIZER_STATES:
                if states & state:
                    next_states |= STATE_TRANSITIONS[state].get(character, STATE_TRANSITIONS[state][""])
            row.append(next_states)
        self[states] = row
        return row


TRANSITION_TABLE = _TransitionTable()
