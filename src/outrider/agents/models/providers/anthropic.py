"""Anthropic: Claude."""

from outrider.agents.models.provider import ModelProvider

anthropic = ModelProvider(
    name="anthropic",
    title="Anthropic: Claude",
    api="anthropic",
    env=("ANTHROPIC_API_KEY",),
    default_model="claude-sonnet-5-5",
    rank=10,
    seeing_models=r"claude",
    key_url="https://console.anthropic.com/settings/keys",
)
