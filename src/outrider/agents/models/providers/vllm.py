"""vLLM on this machine."""

from outrider.agents.models.provider import OPEN_SEEING_MODELS, ModelProvider

vllm = ModelProvider(
    name="vllm",
    title="vLLM on this machine",
    api="chat",
    base_url="http://127.0.0.1:8000/v1",
    rank=32,
    local=True,
    seeing_models=OPEN_SEEING_MODELS,
)
