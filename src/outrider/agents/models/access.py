"""Choose models from the settings, API keys and models on this machine."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from outrider.agents.settings import ApiFormat, ModelProfile, ModelsSettings, TokenPrice
from outrider.core.context import ClientModel
from outrider.core.errors import InvalidInput, NotConfigured
from outrider.core.http import HttpClient

if TYPE_CHECKING:
    from outrider.agents.models.provider import ModelProvider

ENV_VAR_PATTERN = re.compile(r"[A-Z][A-Z0-9_]{2,}")
MODEL_SETUP_HINT = (
    "1. set a key in the environment, e.g. ANTHROPIC_API_KEY; 2. start Ollama, llama.cpp, vLLM or LM Studio on this "
    "machine; 3. set base_url, model and key of models.profiles.NAME in ~/.outrider/settings.json"
)


@dataclass(frozen=True)
class ModelAccess:
    """A model and how to reach it; the key is neither shown in the repr nor saved.

    Attributes:
        name: The profile or `provider:model` that was asked for.
        is_trusted: Whether the URL comes from the operator or belongs to this machine.
        context_tokens: The context window, if the profile has it.
        sees_pictures: Whether the model takes pictures.
        client_model: The client's own model, which has no URL.
    """

    name: str
    provider: str
    api: ApiFormat
    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    is_trusted: bool = False
    timeout_s: float = 120.0
    price: TokenPrice | None = None
    context_tokens: int | None = None
    sees_pictures: bool = False
    client_model: ClientModel | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """`provider:model`, as records name it."""
        return f"{self.provider}:{self.model}"


def build_client_access(client_model: ClientModel) -> ModelAccess:
    """Return the access to the client's own model, which is valid during its call."""
    return ModelAccess(name="client", provider="client", api="", model="sampling", client_model=client_model)


@dataclass(frozen=True)
class ModelStatus:
    """The state of a provider, as `doctor` and `agents check` show it."""

    name: str
    title: str
    usable: bool
    model: str
    reason: str
    remedy: str


class ModelResolver:
    """Finds the models that can be used.

    Args:
        settings: The models settings.
        environ: Environment variables with API keys.
        http: Client for requests to model servers on this machine.
    """

    def __init__(self, settings: ModelsSettings, environ: Mapping[str, str], http: HttpClient) -> None:
        self._settings = settings
        self._environ = environ
        self._http = http

    async def resolve_chain(self, names: Sequence[str] = ()) -> list[ModelAccess]:
        """Return the models to ask; each is the fallback for the one before.

        Args:
            names: Profiles or `provider:model`. Without names the default models are used, else all providers with a
                key, else a model on this machine.

        Raises:
            NotConfigured: No model was found, or a named model lacks its key (`no_model`).
            InvalidInput: A name is neither a profile nor a provider.
        """
        names = list(names) or self._settings.default
        if names:
            return [await self._resolve_name(name) for name in names]
        accesses = [
            ModelAccess(
                name=f"{provider.name}:{provider.default_model}",
                provider=provider.name,
                api=provider.api,
                model=provider.default_model,
                base_url=provider.base_url,
                key=key,
                sees_pictures=provider.can_see(provider.default_model),
            )
            for provider in list_providers().values()
            if (key := self._find_key(provider)) and provider.default_model
        ]
        if accesses:
            return accesses
        for provider in list_providers().values() if self._settings.local else ():
            if provider.local and (model := await self._find_running_model(provider)):
                profile = ModelProfile(provider=provider.name, model=model, timeout_s=600)
                return [await self._resolve_profile(f"{provider.name}:{model}", profile)]
        raise NotConfigured("no model is configured", hint=f"do one of these: {MODEL_SETUP_HINT}", code="no_model")

    @property
    def has_default(self) -> bool:
        """Whether the operator has chosen models for agents that name none."""
        return bool(self._settings.default)

    async def list_status(self) -> list[ModelStatus]:
        """Return the state of every known provider."""
        states: list[ModelStatus] = []
        for provider in list_providers().values():
            if provider.local:
                model = (await self._find_running_model(provider)) if self._settings.local else ""
                reason = "" if model else "not running" if self._settings.local else "models.local is off"
                states.append(ModelStatus(provider.name, provider.title, bool(model), model, reason, "start it"))
                continue
            usable = bool(self._find_key(provider))
            reason, remedy = ("", "") if usable else ("no key", f"set {provider.env[0]}; {provider.key_url}")
            states.append(ModelStatus(provider.name, provider.title, usable, provider.default_model, reason, remedy))
        return states

    async def _resolve_name(self, name: str) -> ModelAccess:
        """Return the access for a profile or `provider:model`. Raises InvalidInput for an unknown name."""
        profiles, providers = self._settings.profiles, list_providers()
        provider, _, model = name.partition(":")
        if name in profiles:
            return await self._resolve_profile(name, profiles[name])
        if provider in providers:
            return await self._resolve_profile(name, ModelProfile(provider=provider, model=model))
        similar = get_close_matches(provider, [*profiles, *providers], n=1)
        suggestion = f"did you mean {similar[0]!r}? " if similar else ""
        raise InvalidInput(
            f"model: {name!r} is neither a profile nor a provider",
            hint=f"{suggestion}write provider:model with one of {', '.join(providers)}, "
            f"or a profile (there are: {', '.join(profiles) or 'none'})",
            code="unknown_model",
        )

    async def _resolve_profile(self, name: str, profile: ModelProfile) -> ModelAccess:
        provider = _resolve_provider(name, profile)
        base_url = profile.base_url or provider.base_url
        key = self._resolve_key_reference(name, profile.key) if profile.key else self._find_key(provider)
        if not key and provider.env and not profile.base_url:
            raise NotConfigured(
                f"model {name!r}: no key for {provider.title} is set",
                hint=f"set {provider.env[0]} in the environment, or {provider.name!r} in ~/.outrider/keys.json",
                code="no_model",
            )
        model = profile.model or provider.default_model or (await self._find_running_model(provider, base_url))
        if not model:
            hint = "start it, and load a model" if provider.local else f"write {provider.name}:MODEL"
            raise NotConfigured(f"model {name!r}: {provider.title} has no default model", hint=hint, code="no_model")
        return ModelAccess(
            name=name,
            provider=provider.name,
            api=profile.api or provider.api,
            model=model,
            base_url=base_url,
            key=key,
            is_trusted=bool(profile.base_url) or provider.local,
            timeout_s=profile.timeout_s,
            context_tokens=profile.context,
            sees_pictures=provider.can_see(model) if profile.pictures is None else profile.pictures,
            price=profile.price or (TokenPrice(input=0, output=0) if provider.local else None),
        )

    def _find_key(self, provider: "ModelProvider") -> str:
        keys = [self._settings.keys.get(provider.name, ""), *(self._environ.get(name, "") for name in provider.env)]
        # Templates of env files contain placeholders like "replace-me".
        return next((key.strip() for key in keys if key.strip() and "replace" not in key.lower()), "")

    def _resolve_key_reference(self, name: str, reference: str) -> str:
        """Return the key behind `keys:NAME`, `env:NAME` or `NAME`; any other text is the key itself."""
        kind, _, key_name = reference.partition(":")
        if kind == "keys" and key_name:
            key = self._settings.keys.get(key_name, "")
        elif kind == "env" and key_name:
            key = self._environ.get(key_name, "")
        elif ENV_VAR_PATTERN.fullmatch(reference):
            key, key_name = self._environ.get(reference, ""), reference
        else:
            return reference
        if not key.strip():
            in_file = f"write {key_name!r} into ~/.outrider/keys.json"
            raise NotConfigured(
                f"model {name!r}: its key {reference!r} is not set",
                hint=in_file if kind == "keys" else f"set {key_name} in the environment",
                code="no_model",
            )
        return key.strip()

    async def _find_running_model(self, provider: "ModelProvider", base_url: str = "") -> str:
        """Return the first model that an endpoint serves, or "".

        It is "" if the endpoint does not answer.
        """
        from outrider.agents.models.local import find_served_model

        return await find_served_model(self._http, base_url or provider.base_url) if provider.local or base_url else ""


def list_providers() -> "Mapping[str, ModelProvider]":
    """Return every provider by name; they are discovered at the first call."""
    from outrider.agents.models.provider_registry import load_providers

    return load_providers()


def _resolve_provider(name: str, profile: ModelProfile) -> "ModelProvider":
    from outrider.agents.models.provider import ModelProvider

    if profile.provider in list_providers():
        return list_providers()[profile.provider]
    if not profile.provider and profile.base_url:
        return ModelProvider("compatible", "an OpenAI-compatible endpoint", profile.api or "chat")
    unknown = f"provider {profile.provider!r} does not exist"
    raise NotConfigured(
        f"models.profiles.{name}: {unknown if profile.provider else 'it has neither `provider` nor `base_url`'}",
        hint=f"the providers are {', '.join(list_providers())}; for other endpoints leave `provider` out "
        "and set `base_url`",
        code="no_model",
    )
