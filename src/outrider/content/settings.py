"""Settings of content stores."""

from pydantic import BaseModel, ConfigDict, Field


class EmbeddingSettings(BaseModel):
    """The `content.embedding` section of the settings."""

    model_config = ConfigDict(extra="forbid", defer_build=True, hide_input_in_errors=True)

    provider: str = Field(
        "auto",
        description="Embedder: `endpoint`, `minilm`, `builtin`, or `off`; `auto` takes the endpoint if base_url is "
        "set, else MiniLM if it is installed, else the built-in word vectors",
    )
    base_url: str = Field(
        "", description="Address of an OpenAI-compatible API, for instance http://127.0.0.1:11434/v1 of Ollama"
    )
    model: str = Field("", description="Name of the endpoint's model")
    key: str = Field(
        "",
        repr=False,
        description="Where to find the endpoint's key: the NAME of an environment variable, `env:NAME`, or `keys:NAME` "
        "for an entry of keys.json",
    )
    dimensions: int = Field(0, ge=0, le=4_096, description="Length of the vectors to request; 0 means the model's own")
    query_prefix: str = Field("", description="Prefix for queries, where the model expects one")
    document_prefix: str = Field("", description="Prefix for passages, where the model expects one")


class ContentSettings(BaseModel, extra="forbid", defer_build=True):
    """Content stores."""

    offer: bool = Field(
        default=True,
        description="Save pages that are read to the session's store, if the toolset content_store is served",
    )
    embedding: EmbeddingSettings = EmbeddingSettings()
