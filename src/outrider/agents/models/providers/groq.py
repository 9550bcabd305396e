"""Groq."""

from outrider.agents.models.provider import OPEN_SEEING_MODELS, ModelProvider

groq = ModelProvider(
    name="groq",
    title="Groq",
    api="chat",
    base_url="https://api.groq.com/openai/v1",
    env=("GROQ_API_KEY",),
    default_model="openai/gpt-oss-120b",
    rank=24,
    key_url="https://console.groq.com/keys",
    seeing_models=OPEN_SEEING_MODELS,
)
