"""The chunk: a passage of a text with its exact position."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Chunk:
    """A passage: `text` equals `document[start:end]`.

    Attributes:
        number: Counts the chunks of a text from 0.
        start, end: Character offsets.
        from_line, to_line: First and last line, from 1; lines end with LF, CRLF or a lone CR.
        text: The passage itself; chunks may overlap, and together they cover the whole text.
        heading: The path of headings above it, joined by ` > `; may be empty.
    """

    number: int
    start: int
    end: int
    from_line: int
    to_line: int
    text: str
    heading: str = ""
