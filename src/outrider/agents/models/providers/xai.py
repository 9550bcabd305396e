"""xAI: Grok."""

from outrider.agents.models.provider import ModelProvider

xai = ModelProvider(
    name="xai",
    title="xAI: Grok",
    api="chat",
    base_url="https://api.x.ai/v1",
    env=("XAI_API_KEY",),
    default_model="grok-4.7",
    rank=23,
    seeing_models=r"grok-([4-9]|.*vision)(?!.*code)",
    key_url="https://console.x.ai",
)
