"""Connect to models in their wire formats through guarded HTTP clients.

Only this module and the folder `runtime` know pydantic-ai.
"""

import importlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from pydantic_ai.models import Model

from outrider.agents.models.access import ModelAccess
from outrider.agents.settings import ApiFormat
from outrider.core.egress.client import build_guarded_client
from outrider.core.egress.guard import EgressGuard

PLACEHOLDER_KEY = "none"  # for servers without a key, because the vendors' libraries require one


async def open_model(access: ModelAccess, guard: EgressGuard, stack: AsyncExitStack) -> Model:
    """Return the model behind an access; its connections close with the stack."""
    if access.client_model is not None:
        from outrider.agents.models.client_model import build_client_model

        return build_client_model(access.client_model)
    trusted = access.base_url if access.is_trusted else ""
    client = await stack.enter_async_context(build_guarded_client(guard, trusted=trusted, seconds=access.timeout_s))
    return MODEL_BUILDERS[access.api or "chat"](access, client)


def import_libraries(api: ApiFormat) -> None:
    """Import the libraries of a wire format, which takes seconds."""
    for name in LIBRARY_MODULES[api or "chat"]:
        importlib.import_module(name)


def _build_openai_model(access: ModelAccess, client: Any) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # Set all options explicitly: an OPENAI_BASE_URL in the environment would send keys and questions elsewhere.
    openai_client = AsyncOpenAI(
        api_key=access.key or PLACEHOLDER_KEY,
        base_url=access.base_url or "https://api.openai.com/v1",
        organization="",
        project="",
        http_client=client,
        max_retries=0,
    )
    if access.provider == "openai":
        provider: Any = OpenAIProvider(openai_client=openai_client)
    else:
        provider = OpenAICompatibleProvider(access.provider, openai_client=openai_client)
    model_type = OpenAIResponsesModel if access.api == "responses" else OpenAIChatModel
    return model_type(access.model, provider=provider)


def _build_anthropic_model(access: ModelAccess, client: Any) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    anthropic_client = AsyncAnthropic(
        api_key=access.key or PLACEHOLDER_KEY,
        base_url=access.base_url or "https://api.anthropic.com",
        http_client=client,
        max_retries=0,
    )
    # Each step repeats all earlier messages, so tools and instructions stay cached, and the last message gets a
    # breakpoint for the next step. Single blocks are marked, because gateways refuse a mark on the whole request.
    settings = AnthropicModelSettings(
        anthropic_cache_tool_definitions=True, anthropic_cache_instructions=True, anthropic_cache_messages=True
    )
    return AnthropicModel(
        access.model, provider=AnthropicProvider(anthropic_client=anthropic_client), settings=settings
    )


def _build_google_model(access: ModelAccess, client: Any) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    base_url = access.base_url or "https://generativelanguage.googleapis.com"
    provider = GoogleProvider(api_key=access.key or PLACEHOLDER_KEY, base_url=base_url, http_client=client)
    return GoogleModel(access.model, provider=provider)


MODEL_BUILDERS: dict[ApiFormat, Callable[[ModelAccess, Any], Model]] = {
    "chat": _build_openai_model,
    "responses": _build_openai_model,
    "anthropic": _build_anthropic_model,
    "google": _build_google_model,
}
LIBRARY_MODULES: dict[ApiFormat, tuple[str, ...]] = {
    "chat": ("pydantic_ai.models.openai", "pydantic_ai.providers.openai_compatible"),
    "responses": ("pydantic_ai.models.openai", "pydantic_ai.providers.openai"),
    "anthropic": ("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic"),
    "google": ("pydantic_ai.models.google", "pydantic_ai.providers.google"),
}
