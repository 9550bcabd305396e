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
    embedding: EmbeddingSettings = EmbeddingSettings()
