"""From settings, environment and what runs on this machine to the models that can be asked, in which order."""

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
    "1. set a provider's key in the environment, for instance ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; "
    "2. start a model on this machine (Ollama, llama.cpp, vLLM, LM Studio): it is found by itself; "
    "3. name one in ~/.outrider/settings.json: "
    '{"models": {"profiles": {"mine": {"base_url": "https://…/v1", "model": "…", "key": "MY_KEY"}}}}'
)


@dataclass(frozen=True)
class ModelAccess:
    """One model and the way to it. The key shows in no repr and is written nowhere.

    Attributes:
        name: What the reference said: a profile or `provider:model`.
        client_model: The client's own model, which has no address.
        context_tokens: How many tokens fit into it, where the profile says so.
        is_trusted: The address comes from the operator, or is of this machine.
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
    client_model: ClientModel | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """`provider:model`, as records name it."""
        return f"{self.provider}:{self.model}"


def build_client_access(lender: ClientModel) -> ModelAccess:
    """The client's own model, for the time of its call."""
    return ModelAccess(name="client", provider="client", api="", model="sampling", client_model=lender)


@dataclass(frozen=True)
class ModelStatus:
    """What `doctor` and `agents check` say of a provider."""

    name: str
    title: str
    usable: bool
    model: str
    reason: str
    remedy: str


class ModelResolver:
    """The models that can be used here.

    Args:
        settings: The operator's choices.
        environ: Where keys may be.
        http: For looking around on this machine.
    """

    def __init__(self, settings: ModelsSettings, environ: Mapping[str, str], http: HttpClient) -> None:
        self._settings = settings
        self._environ = environ
        self._http = http

    async def resolve_chain(self, wanted: Sequence[str] = ()) -> list[ModelAccess]:
        """The models to ask, each answering for the one before.

        Args:
            wanted: Profiles or `provider:model`; empty for the default ones, else the first provider with a key, else
                a model on this machine.

        Raises:
            NotConfigured: None is named and none found, or a named one lacks its key (`no_model`).
            InvalidInput: A name that is neither.
        """
        named = list(wanted) or self._settings.default
        if named:
            return [await self._resolve_name(each) for each in named]
        keyed = [each for each in list_providers().values() if self._find_key(each) and each.default_model]
        if keyed:
            return [self._build_default_access(each) for each in keyed]
        found = await self._find_local_model()
        if found is None:
            raise NotConfigured("no model is configured", hint=f"do one of three: {MODEL_SETUP_HINT}", code="no_model")
        return [found]

    @property
    def has_default(self) -> bool:
        """Whether the operator has chosen which models are used where an agent names none."""
        return bool(self._settings.default)

    async def list_status(self) -> list[ModelStatus]:
        """Every known provider and whether it can be used."""
        return [await self._check_provider(each) for each in list_providers().values()]

    async def _check_provider(self, provider: "ModelProvider") -> ModelStatus:
        if provider.local:
            found = (await self._find_running_model(provider)) if self._settings.local else ""
            reason = "" if found else "not running" if self._settings.local else "models.local is off"
            return ModelStatus(provider.name, provider.title, bool(found), found, reason, "start it")
        usable = bool(self._find_key(provider))
        reason, remedy = ("", "") if usable else ("no key", f"set {provider.env[0]}; {provider.key_url}")
        return ModelStatus(provider.name, provider.title, usable, provider.default_model, reason, remedy)

    async def _resolve_name(self, name: str) -> ModelAccess:
        if name in self._settings.profiles:
            return await self._resolve_profile(name, self._settings.profiles[name])
        provider, _, model = name.partition(":")
        if provider not in list_providers():
            raise self._build_unknown_error(name)
        return await self._resolve_profile(name, ModelProfile(provider=provider, model=model))

    async def _resolve_profile(self, name: str, profile: ModelProfile) -> ModelAccess:
        provider = _resolve_provider(name, profile)
        base_url = profile.base_url or provider.base_url
        key = self._resolve_key_reference(name, profile.key) if profile.key else self._find_key(provider)
        if not key and provider.env and not profile.base_url:
            raise NotConfigured(
                f"model {name!r}: there is no key for {provider.title}",
                hint=f"set {provider.env[0]} in the environment, or {provider.name!r} in ~/.outrider/keys.json",
                code="no_model",
            )
        model = profile.model or provider.default_model or (await self._find_running_model(provider, base_url))
        if not model:
            raise _nameless(name, provider)
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
            price=profile.price or (TokenPrice(input=0, output=0) if provider.local else None),
        )

    def _build_default_access(self, provider: "ModelProvider") -> ModelAccess:
        name = f"{provider.name}:{provider.default_model}"
        return ModelAccess(
            name=name,
            provider=provider.name,
            api=provider.api,
            model=provider.default_model,
            base_url=provider.base_url,
            key=self._find_key(provider),
        )

    def _find_key(self, provider: "ModelProvider") -> str:
        found = [self._settings.keys.get(provider.name, ""), *(self._environ.get(name, "") for name in provider.env)]
        return next((each.strip() for each in found if each.strip() and "replace" not in each.lower()), "")

    def _resolve_key_reference(self, name: str, reference: str) -> str:
        kind, _, rest = reference.partition(":")
        if kind == "keys" and rest:
            found = self._settings.keys.get(rest, "")
        elif kind == "env" and rest:
            found = self._environ.get(rest, "")
        elif ENV_VAR_PATTERN.fullmatch(reference):
            found, rest = self._environ.get(reference, ""), reference
        else:
            return reference
        if not found.strip():
            raise NotConfigured(
                f"model {name!r}: its key {reference!r} is not set",
                hint=f"set {rest} in the environment"
                if kind != "keys"
                else f"write {rest!r} into ~/.outrider/keys.json",
                code="no_model",
            )
        return found.strip()

    def _build_unknown_error(self, name: str) -> InvalidInput:
        names = [*self._settings.profiles, *list_providers()]
        close = get_close_matches(name.partition(":")[0], names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        listed = ", ".join(self._settings.profiles) or "none"
        return InvalidInput(
            f"model: no profile or provider {name!r}",
            hint=f"{hint}write provider:model with one of {', '.join(list_providers())}, or a profile (there are: {listed})",
            code="unknown_model",
        )

    async def _find_local_model(self) -> ModelAccess | None:
        """The first model that runs on this machine."""
        if not self._settings.local:
            return None
        for provider in list_providers().values():
            if provider.local and (model := await self._find_running_model(provider)):
                return await self._resolve_profile(
                    f"{provider.name}:{model}", ModelProfile(provider=provider.name, model=model, timeout_s=600)
                )
        return None

    async def _find_running_model(self, provider: "ModelProvider", base_url: str = "") -> str:
        """The model that an endpoint serves first; empty when it does not answer."""
        from outrider.agents.models.local import find_served_model

        return await find_served_model(self._http, base_url or provider.base_url) if provider.local or base_url else ""


def list_providers() -> "Mapping[str, ModelProvider]":
    """Every provider by name; they are looked for when somebody asks for the first time."""
    from outrider.agents.models.provider_registry import load_providers as found

    return found()


def _resolve_provider(name: str, profile: ModelProfile) -> "ModelProvider":
    from outrider.agents.models.provider import ModelProvider

    if profile.provider in list_providers():
        return list_providers()[profile.provider]
    if not profile.provider and profile.base_url:
        return ModelProvider("compatible", "an OpenAI-compatible endpoint", profile.api or "chat")
    wrong = f"no provider {profile.provider!r}" if profile.provider else "neither `provider` nor `base_url`"
    raise NotConfigured(
        f"models.profiles.{name}: it names {wrong}",
        hint=f"the providers are {', '.join(list_providers())}; for any other endpoint give `base_url` and leave it out",
        code="no_model",
    )


def _nameless(name: str, provider: "ModelProvider") -> NotConfigured:
    remedy = "start it, and load a model" if provider.local else f"write {provider.name}:MODEL"
    return NotConfigured(f"model {name!r}: {provider.title} has no model to use", hint=remedy, code="no_model")
