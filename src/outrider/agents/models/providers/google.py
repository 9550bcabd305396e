"""Google: Gemini."""

from outrider.agents.models.provider import ModelProvider

google = ModelProvider(
    name="google",
    title="Google: Gemini",
    api="google",
    env=(
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ),
    default_model="gemini-3.8-flash",
    rank=12,
    seeing_models=r"gemini|gemma-[3-9]",
    key_url="https://aistudio.google.com/apikey",
)
