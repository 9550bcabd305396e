"""The result of a tool, independent of protocols: content for the model, data, and metadata for the host."""

from dataclasses import dataclass, field
from typing import Any

# In a result's metadata: the files of the workspace that the call wrote, each with `path`, and with `uri` and
# `content_type` if it was also saved as an artifact.
FILES_META_KEY = "outrider/files"


@dataclass(frozen=True)
class TextBlock:
    """Text to be read by the model."""

    text: str
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImageBlock:
    """A picture for the model: raw bytes, never a data: URL."""

    data: bytes
    mime_type: str = "image/png"


@dataclass(frozen=True)
class ResourceBlock:
    """A typed piece of content with its own URI.

    `fields` are put directly into the resource.

    Hosts distinguish result types by `mime_type`, and expect further fields (title, reference, responseCode …)
    next to `uri` and `text`.
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
    """The complete result of a call.

    Attributes:
        content: The blocks that the model reads, in order.
        data: The same facts as one JSON object, for tools that return data; empty for tools that return text
            (some hosts show the model only one of the two).
        meta: Metadata for the host, for instance `outrider/next_offset`.
        is_error: Whether the call failed although it returns content.
    """

    content: tuple[ResultBlock, ...]
    data: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False

    @property
    def text(self) -> str:
        """All text, one block after another."""
        return "\n\n".join(item.text for item in self.content if isinstance(item, TextBlock | ResourceBlock))
