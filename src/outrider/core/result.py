"""What a tool gives back, before any protocol: items to read, data for programs, marks for the host."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TextBlock:
    """Text to be read by the model."""

    text: str
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImageBlock:
    """A picture for the model's eyes: raw bytes, never a data: address."""

    data: bytes
    mime_type: str = "image/png"


@dataclass(frozen=True)
class ResourceBlock:
    """A typed piece of content with its own address; `fields` lie directly inside the resource.

    The seeds' servers tell their result types apart by `mime_type` and put further fields
    (title, reference, responseCode …) beside `uri` and `text`.
    """

    uri: str
    mime_type: str
    text: str
    fields: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LinkBlock:
    """A pointer to something that can be read later under `uri`."""

    uri: str
    name: str
    mime_type: str
    size: int | None = None


ResultBlock = TextBlock | ImageBlock | ResourceBlock | LinkBlock


@dataclass(frozen=True)
class Result:
    """The whole answer of one call.

    Attributes:
        content: What the model reads, in order.
        data: The same facts as one JSON object, for tools whose answer is data; empty for tools that
            are to be read (some hosts show the model only one of the two).
        meta: Machine facts for the host, for instance `outrider/next_offset`.
        is_error: The call failed as a whole though it returns content.
    """

    content: tuple[ResultBlock, ...]
    data: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False

    @property
    def text(self) -> str:
        """All that can be read, one block after another."""
        return "\n\n".join(item.text for item in self.content if isinstance(item, TextBlock | ResourceBlock))
