"""Mistral."""

from outrider.agents.models.provider import ModelProvider

mistral = ModelProvider(
    name="mistral",
    title="Mistral",
    api="chat",
    base_url="https://api.mistral.ai/v1",
    env=("MISTRAL_API_KEY",),
    default_model="mistral-medium-latest",
    rank=21,
    seeing_models=r"pixtral|mistral-(medium|small)|ministral",
    key_url="https://console.mistral.ai/api-keys",
)
