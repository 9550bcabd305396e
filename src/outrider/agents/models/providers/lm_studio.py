"""LM Studio on this machine."""

from outrider.agents.models.provider import OPEN_SEEING_MODELS, ModelProvider

lm_studio = ModelProvider(
    name="lm_studio",
    title="LM Studio on this machine",
    api="chat",
    base_url="http://127.0.0.1:1234/v1",
    rank=33,
    local=True,
    seeing_models=OPEN_SEEING_MODELS,
)
