"""Options for writing Markdown."""

from dataclasses import dataclass
from typing import Literal

LinkStyle = Literal["inline", "references", "none"]


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """How to write links and images.

    Attributes:
        links: `inline` puts the address after a link's words, `references` at the end of the text, and `none` leaves it
            out, because addresses are a quarter of a page's tokens.
        images: Whether to show images that have an alternative text.
    """

    links: LinkStyle = "inline"
    images: bool = False


DEFAULT_STYLE = MarkdownStyle()
