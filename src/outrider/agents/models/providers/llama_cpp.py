"""llama.cpp's server on this machine."""

from outrider.agents.models.provider import OPEN_SEEING_MODELS, ModelProvider

llama_cpp = ModelProvider(
    name="llama_cpp",
    title="llama.cpp's server on this machine",
    api="chat",
    base_url="http://127.0.0.1:8080/v1",
    rank=31,
    local=True,
    seeing_models=OPEN_SEEING_MODELS,
)
