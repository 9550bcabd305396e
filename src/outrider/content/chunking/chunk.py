"""What a chunk is: a passage of a text with its exact place in it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Chunk:
    """A passage. `text == whole[start:end]` for the text that it was cut from.

    Attributes:
        number: Counts the text's chunks from 0.
        start, end: In characters.
        from_line, to_line: Its first and last line, from 1; lines end with LF, CRLF or a lone CR.
        text: The passage itself; neighbours may overlap, and together they leave nothing out.
        heading: The headings that it stands under, ` > ` between them; may be empty.
    """

    number: int
    start: int
    end: int
    from_line: int
    to_line: int
    text: str
    heading: str = ""
