"""OpenAI: GPT."""

from outrider.agents.models.provider import ModelProvider

openai = ModelProvider(
    name="openai",
    title="OpenAI: GPT",
    api="responses",
    env=("OPENAI_API_KEY",),
    default_model="gpt-6.1-terra",
    rank=11,
    seeing_models=r"gpt-(4o|4\.[1-9]|4-turbo|[5-9])|^o[134](?!-mini)|^o4",
    key_url="https://platform.openai.com/api-keys",
)
