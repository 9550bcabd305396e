"""Settings of content stores."""

from pydantic import BaseModel, Field

from outrider.content.embedding_settings import EmbeddingSettings


class ContentSettings(BaseModel, extra="forbid", defer_build=True):
    """Content stores."""

    offer: bool = Field(
        default=True,
        description="Save pages that are read to the session's store, if the toolset content_store is served",
    )
    keep_read_days: float = Field(
        default=90, gt=0, description="Days to keep an automatically saved page after its last use"
    )
    embedding: EmbeddingSettings = EmbeddingSettings()
