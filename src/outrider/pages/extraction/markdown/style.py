"""How Markdown is written where there is a choice."""

from dataclasses import dataclass
from typing import Literal

LinkStyle = Literal["inline", "references", "none"]


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """Choices for a reader.

    Attributes:
        links: `inline` puts the address behind a link's words, `references` at the end of the text, `none` leaves
            the words alone: addresses are a quarter of a page's tokens.
        images: Whether pictures that have words of their own are shown.
    """

    links: LinkStyle = "inline"
    images: bool = False


DEFAULT_STYLE = MarkdownStyle()
