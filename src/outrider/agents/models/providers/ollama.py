"""Ollama on this machine."""

from outrider.agents.models.provider import OPEN_SEEING_MODELS, ModelProvider

ollama = ModelProvider(
    name="ollama",
    title="Ollama on this machine",
    api="chat",
    base_url="http://127.0.0.1:11434/v1",
    rank=30,
    local=True,
    seeing_models=OPEN_SEEING_MODELS,
)
