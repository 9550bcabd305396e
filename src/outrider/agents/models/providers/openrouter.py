"""OpenRouter: models of many vendors."""

from outrider.agents.models.provider import ModelProvider

openrouter = ModelProvider(
    name="openrouter",
    title="OpenRouter: models of many vendors",
    api="chat",
    base_url="https://openrouter.ai/api/v1",
    env=("OPENROUTER_API_KEY",),
    rank=20,
    key_url="https://openrouter.ai/keys",
)
