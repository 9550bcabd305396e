"""Settings of content stores."""

from pydantic import BaseModel, Field

from outrider.content.embedding_settings import EmbeddingSettings


class ContentSettings(BaseModel, extra="forbid", defer_build=True):
    """Content stores."""

    offer: bool = Field(
        default=True,
        description="Save pages that are read into the session's store, where the toolset content_store is served",
    )
    keep_read_days: float = Field(
        default=90, gt=0, description="Days after its last use that a page is kept which was saved automatically"
    )
    roots: list[str] = Field(
        default=[], description="Folders besides the workspace whose files may be added with file://"
    )
    file_bytes: int = Field(default=50_000_000, ge=1_000, description="Bytes of the largest file that can be added")
    text_chars: int = Field(
        default=10_000_000, ge=1_000, description="Characters of the longest text that can be added"
    )
    embedding: EmbeddingSettings = EmbeddingSettings()
