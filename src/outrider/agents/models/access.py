"""From settings, environment and what runs on this machine to the models that can be asked, in which order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from outrider.agents.settings import Api, ModelsSettings, Price, Profile
from outrider.core.context import Lender
from outrider.core.errors import InvalidInput, NotConfigured
from outrider.core.http import Http

if TYPE_CHECKING:
    from outrider.agents.models.provider import ModelProvider

ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,}")
WAYS = (
    "1. set a provider's key in the environment, for instance ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; "
    "2. start a model on this machine (Ollama, llama.cpp, vLLM, LM Studio): it is found by itself; "
    "3. name one in ~/.outrider/settings.json: "
    '{"models": {"profiles": {"mine": {"base_url": "https://…/v1", "model": "…", "key": "MY_KEY"}}}}'
)


@dataclass(frozen=True)
class Access:
    """One model and the way to it. The key shows in no repr and is written nowhere.

    Attributes:
        name: What the reference said: a profile or `provider:model`.
        lender: The client's own model, which has no address.
        context: How many tokens fit into it, where the profile says so.
        trusted: The address comes from the operator, or is of this machine.
    """

    name: str
    provider: str
    api: Api
    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    trusted: bool = False
    seconds: float = 120.0
    price: Price | None = None
    context: int | None = None
    lender: Lender | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """`provider:model`, as records name it."""
        return f"{self.provider}:{self.model}"


def borrowed(lender: Lender) -> Access:
    """The client's own model, for the time of its call."""
    return Access(name="client", provider="client", api="", model="sampling", lender=lender)


@dataclass(frozen=True)
class ModelStatus:
    """What `doctor` and `agents check` say of a provider."""

    name: str
    title: str
    usable: bool
    model: str
    reason: str
    remedy: str


class Models:
    """The models that can be used here.

    Args:
        settings: The operator's choices.
        environ: Where keys may be.
        http: For looking around on this machine.
    """

    def __init__(self, settings: ModelsSettings, environ: Mapping[str, str], http: Http) -> None:
        self._settings = settings
        self._environ = environ
        self._http = http

    async def chain(self, wanted: Sequence[str] = ()) -> list[Access]:
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
            return [await self._named(each) for each in named]
        keyed = [each for each in known().values() if self._key(each) and each.default_model]
        if keyed:
            return [self._usual(each) for each in keyed]
        found = await self._local()
        if found is None:
            raise NotConfigured("no model is configured", hint=f"do one of three: {WAYS}", code="no_model")
        return [found]

    @property
    def has_default(self) -> bool:
        """Whether the operator has chosen which models are used where an agent names none."""
        return bool(self._settings.default)

    async def status(self) -> list[ModelStatus]:
        """Every known provider and whether it can be used."""
        return [await self._status(each) for each in known().values()]

    async def _status(self, provider: "ModelProvider") -> ModelStatus:
        if provider.local:
            found = (await self._running(provider)) if self._settings.local else ""
            reason = "" if found else "not running" if self._settings.local else "models.local is off"
            return ModelStatus(provider.name, provider.title, bool(found), found, reason, "start it")
        usable = bool(self._key(provider))
        reason, remedy = ("", "") if usable else ("no key", f"set {provider.env[0]}; {provider.key_url}")
        return ModelStatus(provider.name, provider.title, usable, provider.default_model, reason, remedy)

    async def _named(self, name: str) -> Access:
        if name in self._settings.profiles:
            return await self._profiled(name, self._settings.profiles[name])
        provider, _, model = name.partition(":")
        if provider not in known():
            raise self._unknown(name)
        return await self._profiled(name, Profile(provider=provider, model=model))

    async def _profiled(self, name: str, profile: Profile) -> Access:
        provider = _provider(name, profile)
        base_url = profile.base_url or provider.base_url
        key = self._referred(name, profile.key) if profile.key else self._key(provider)
        if not key and provider.env and not profile.base_url:
            raise NotConfigured(
                f"model {name!r}: there is no key for {provider.title}",
                hint=f"set {provider.env[0]} in the environment, or {provider.name!r} in ~/.outrider/keys.json",
                code="no_model",
            )
        model = profile.model or provider.default_model or (await self._running(provider, base_url))
        if not model:
            raise _nameless(name, provider)
        return Access(
            name=name,
            provider=provider.name,
            api=profile.api or provider.api,
            model=model,
            base_url=base_url,
            key=key,
            trusted=bool(profile.base_url) or provider.local,
            seconds=profile.timeout_s,
            context=profile.context,
            price=profile.price or (Price(input=0, output=0) if provider.local else None),
        )

    def _usual(self, provider: "ModelProvider") -> Access:
        name = f"{provider.name}:{provider.default_model}"
        return Access(
            name=name,
            provider=provider.name,
            api=provider.api,
            model=provider.default_model,
            base_url=provider.base_url,
            key=self._key(provider),
        )

    def _key(self, provider: "ModelProvider") -> str:
        found = [self._settings.keys.get(provider.name, ""), *(self._environ.get(name, "") for name in provider.env)]
        return next((each.strip() for each in found if each.strip() and "replace" not in each.lower()), "")

    def _referred(self, name: str, reference: str) -> str:
        kind, _, rest = reference.partition(":")
        if kind == "keys" and rest:
            found = self._settings.keys.get(rest, "")
        elif kind == "env" and rest:
            found = self._environ.get(rest, "")
        elif ENVIRONMENT_NAME.fullmatch(reference):
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

    def _unknown(self, name: str) -> InvalidInput:
        names = [*self._settings.profiles, *known()]
        close = get_close_matches(name.partition(":")[0], names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        listed = ", ".join(self._settings.profiles) or "none"
        return InvalidInput(
            f"model: no profile or provider {name!r}",
            hint=f"{hint}write provider:model with one of {', '.join(known())}, or a profile (there are: {listed})",
            code="unknown_model",
        )

    async def _local(self) -> Access | None:
        """The first model that runs on this machine."""
        if not self._settings.local:
            return None
        for provider in known().values():
            if provider.local and (model := await self._running(provider)):
                return await self._profiled(
                    f"{provider.name}:{model}", Profile(provider=provider.name, model=model, timeout_s=600)
                )
        return None

    async def _running(self, provider: "ModelProvider", base_url: str = "") -> str:
        """The model that an endpoint serves first; empty when it does not answer."""
        from outrider.agents.models.local import served

        return await served(self._http, base_url or provider.base_url) if provider.local or base_url else ""


def known() -> "Mapping[str, ModelProvider]":
    """Every provider by name; they are looked for when somebody asks for the first time."""
    from outrider.agents.models.known import known as found

    return found()


def _provider(name: str, profile: Profile) -> "ModelProvider":
    from outrider.agents.models.provider import ModelProvider

    if profile.provider in known():
        return known()[profile.provider]
    if not profile.provider and profile.base_url:
        return ModelProvider("compatible", "an OpenAI-compatible endpoint", profile.api or "chat")
    wrong = f"no provider {profile.provider!r}" if profile.provider else "neither `provider` nor `base_url`"
    raise NotConfigured(
        f"models.profiles.{name}: it names {wrong}",
        hint=f"the providers are {', '.join(known())}; for any other endpoint give `base_url` and leave it out",
        code="no_model",
    )


def _nameless(name: str, provider: "ModelProvider") -> NotConfigured:
    remedy = "start it, and load a model" if provider.local else f"write {provider.name}:MODEL"
    return NotConfigured(f"model {name!r}: {provider.title} has no model to use", hint=remedy, code="no_model")
