"""The wire formats, as pydantic-ai's models over clients of our guard; besides, only the folder `runtime` knows it."""

import importlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from pydantic_ai.models import Model

from outrider.agents.models.access import Access
from outrider.agents.settings import Api
from outrider.core.egress.client import guarded_client
from outrider.core.egress.guard import Guard

NO_KEY = "none"  # what servers on this machine get: the vendors' libraries refuse to send nothing


async def open_model(access: Access, guard: Guard, stack: AsyncExitStack) -> Model:
    """The model behind an access; its connections close with the stack."""
    if access.lender is not None:
        from outrider.agents.models.lent import lent_model

        return lent_model(access.lender)
    trusted = access.base_url if access.trusted else ""
    client = await stack.enter_async_context(guarded_client(guard, trusted=trusted, seconds=access.seconds))
    return WIRES[access.api or "chat"](access, client)


def load(api: Api) -> None:
    """Imports what a wire format needs; that takes seconds."""
    for name in MODULES[api or "chat"]:
        importlib.import_module(name)


def _openai_client(access: Access, client: Any) -> Any:
    from openai import AsyncOpenAI

    # Nothing is left to the environment: a stray OPENAI_BASE_URL would send keys and questions elsewhere.
    return AsyncOpenAI(
        api_key=access.key or NO_KEY,
        base_url=access.base_url or "https://api.openai.com/v1",
        organization="",
        project="",
        http_client=client,
        max_retries=0,
    )


def _openai_provider(access: Access, client: Any) -> Any:
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    made = _openai_client(access, client)
    if access.provider == "openai":
        return OpenAIProvider(openai_client=made)
    return OpenAICompatibleProvider(access.provider, openai_client=made)


def _chat(access: Access, client: Any) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel

    return OpenAIChatModel(access.model, provider=_openai_provider(access, client))


def _responses(access: Access, client: Any) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel

    return OpenAIResponsesModel(access.model, provider=_openai_provider(access, client))


def _anthropic(access: Access, client: Any) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    made = AsyncAnthropic(
        api_key=access.key or NO_KEY,
        base_url=access.base_url or "https://api.anthropic.com",
        http_client=client,
        max_retries=0,
    )
    return AnthropicModel(access.model, provider=AnthropicProvider(anthropic_client=made))


def _google(access: Access, client: Any) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    address = access.base_url or "https://generativelanguage.googleapis.com"
    provider = GoogleProvider(api_key=access.key or NO_KEY, base_url=address, http_client=client)
    return GoogleModel(access.model, provider=provider)


WIRES: dict[Api, Callable[[Access, Any], Model]] = {
    "chat": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
}
MODULES: dict[Api, tuple[str, ...]] = {
    "chat": ("pydantic_ai.models.openai", "pydantic_ai.providers.openai_compatible"),
    "responses": ("pydantic_ai.models.openai", "pydantic_ai.providers.openai"),
    "anthropic": ("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic"),
    "google": ("pydantic_ai.models.google", "pydantic_ai.providers.google"),
}
