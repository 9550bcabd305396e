"""OpenRouter: models of many vendors."""

from outrider.agents.models.provider import OPEN_SEEING_MODELS, ModelProvider

openrouter = ModelProvider(
    name="openrouter",
    title="OpenRouter: models of many vendors",
    api="chat",
    base_url="https://openrouter.ai/api/v1",
    env=("OPENROUTER_API_KEY",),
    rank=20,
    seeing_models=rf"claude|gemini|gpt-(4o|4\.[1-9]|[5-9])|grok-[4-9](?!.*code)|{OPEN_SEEING_MODELS}",
    key_url="https://openrouter.ai/keys",
)
