"""OpenAI: GPT."""

from outrider.agents.models.provider import ModelProvider

openai = ModelProvider(
    name="openai",
    title="OpenAI: GPT",
    api="responses",
    env=("OPENAI_API_KEY",),
    default_model="gpt-6.1-terra",
    rank=11,
    key_url="https://platform.openai.com/api-keys",
)
