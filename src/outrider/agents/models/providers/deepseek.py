"""DeepSeek."""

from outrider.agents.models.provider import ModelProvider

deepseek = ModelProvider(
    name="deepseek",
    title="DeepSeek",
    api="chat",
    base_url="https://api.deepseek.com",
    env=("DEEPSEEK_API_KEY",),
    default_model="deepseek-v4-pro",
    rank=22,
    key_url="https://platform.deepseek.com/api_keys",
)
