"""From settings and environment to the providers that can be asked here, in which order and how."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from outrider.core.discovery import find
from outrider.core.errors import NotConfigured
from outrider.search import providers
from outrider.search.browsing import engines, provider_of
from outrider.search.health import Health
from outrider.search.links import is_web
from outrider.search.placeholder import is_placeholder
from outrider.search.provider import GROUP, Access, Credential, Powers, Provider, Rate
from outrider.search.settings import WEB_JSON, SearchSettings

LONGEST_TIMEOUT = 120.0
OPTIONS = ("endpoint", "timeout_s", "user_agent", "rate")
ALIASES = {"google": "google_cse", "you_com": "you", "duckduckgo": "ddgs", "web_iq": "webiq"}
NO_PROFILE = frozenset({"", "default"})


@dataclass(frozen=True)
class Candidate:
    """A provider and the way to it."""

    provider: Provider
    access: Access


@dataclass(frozen=True)
class Plan:
    """Whom to ask in which order; `profile` is the one in force, "" for the chain alone."""

    candidates: tuple[Candidate, ...]
    profile: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProviderStatus:
    """What `doctor` says of a provider.

    `missing` names the credentials that are not set, `reason` says why it is not usable.
    """

    name: str
    title: str
    usable: bool
    key: bool
    keyless: bool
    missing: tuple[str, ...]
    reason: str
    remedy: str
    health: Health | None = field(default=None)


@lru_cache(maxsize=1)
def known() -> Mapping[str, Provider]:
    """Every provider by name: those in the folder, those of plugins, and one for each engine's result page."""
    found = [*find(providers, Provider, group=GROUP), *map(provider_of, engines().values())]
    return {provider.name: provider for provider in found}


def named(name: str, where: str) -> Provider:
    """The provider of that name or alias. Raises NotConfigured that lists the known ones."""
    provider = known().get(ALIASES.get(name, name))
    if provider is not None:
        return provider
    close = get_close_matches(name, known(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the providers are {', '.join(sorted(known()))}"
    listed = f"the known ones are {', '.join(sorted(known()))}"
    raise NotConfigured(f"{where}: no search provider {name!r}; {listed}", hint=hint, code="unknown_provider")


def plan(
    settings: SearchSettings,
    environ: Mapping[str, str],
    powers: Powers,
    *,
    now: float,
    profile: str | None = None,
    browse: bool = False,
) -> Plan:
    """The providers to ask: the profile's first, then those with a key, then the keyless chain.

    With `browse` result pages in a browser stand before all but the profile and what `search.order` names.

    Raises NotConfigured for an unknown provider or a profile without real credentials.
    """
    disabled = {named(name, "search.disabled").name for name in settings.disabled}
    chosen, warnings = _chosen(settings, profile)
    first = [_profiled(settings, chosen, disabled, warnings)] if chosen else []
    chain = _chain(settings, environ, powers, browse=browse)
    rest = [each for each in chain if each.provider.name not in disabled]
    seen = {(each.provider.name, each.access.secrets, each.access.endpoint) for each in first}
    rest = [each for each in rest if (each.provider.name, each.access.secrets, each.access.endpoint) not in seen]
    candidates = tuple(Candidate(each.provider, each.access.at(now)) for each in (*first, *rest))
    return Plan(candidates, chosen, tuple(warnings))


def explain(
    settings: SearchSettings,
    environ: Mapping[str, str],
    *,
    powers: Powers | None = None,
    health: Mapping[str, Health] | None = None,
) -> list[ProviderStatus]:
    """Every known provider, and whether it can be used here; the order is that of the chain.

    Raises NotConfigured where the settings name a provider that does not exist.
    """
    powers, health = powers or Powers(), health or {}
    usable = plan(settings.model_copy(update={"profile": ""}), environ, powers, now=0.0, browse=True).candidates
    usable = sorted(usable, key=lambda each: each.provider.browses)
    ready = {each.provider.name: each.access for each in usable}
    disabled = {named(name, "search.disabled").name for name in settings.disabled}
    names = [*ready, *sorted(set(known()) - set(ready))]
    return [_status(known()[name], settings, environ, powers, ready, disabled, health) for name in names]


def _status(  # noqa: PLR0917 - one row of a report, from everything there is
    provider: Provider,
    settings: SearchSettings,
    environ: Mapping[str, str],
    powers: Powers,
    ready: Mapping[str, Access],
    disabled: set[str],
    health: Mapping[str, Health],
) -> ProviderStatus:
    access = ready.get(provider.name)
    missing = _missing(provider, _credentials(provider, settings.providers.get(provider.name, {}), environ))
    reason = "" if access else "disabled" if provider.name in disabled else provider.missing(powers)
    if access is None and not reason:
        reason = _why_not(provider, settings, missing)
    return ProviderStatus(
        name=provider.name,
        title=provider.title,
        usable=access is not None,
        key=bool(provider.credentials) and not missing,
        keyless=provider.keyless is not None,
        missing=missing,
        reason=reason,
        remedy=_remedy(provider, powers, usable=access is not None),
        health=health.get(access.id) if access else None,
    )


def _remedy(provider: Provider, powers: Powers, *, usable: bool) -> str:
    if usable or not provider.browses or provider.missing(powers):
        return provider.remedy
    return f"add {provider.name.removesuffix('_page')!r} to `search.browser.engines`"


def _why_not(provider: Provider, settings: SearchSettings, missing: tuple[str, ...]) -> str:
    if provider.keyless is None:
        return f"no {' and no '.join(missing)}"
    return "`search.browser.engines` does not name it" if settings.keyless else "keyless use is off"


def _chosen(settings: SearchSettings, profile: str | None) -> tuple[str, list[str]]:
    """The profile in force, and what is wrong with those that cannot be."""
    name = (settings.profile if profile is None else profile).strip()
    warnings = [
        f"search profile {each!r} is ignored: it is no object"
        for each, content in settings.profiles.items()
        if not isinstance(content, dict)
    ]
    if name in NO_PROFILE:
        return "", warnings
    if isinstance(settings.profiles.get(name), dict):
        return name, warnings
    if name not in settings.profiles:
        others = ", ".join(sorted(settings.profiles)) or "none"
        warnings.append(f"no search profile {name!r} (there are: {others}); the default chain is used")
    return "", warnings


def _profiled(settings: SearchSettings, name: str, disabled: set[str], warnings: list[str]) -> Candidate:
    content: Mapping[str, Any] = settings.profiles[name]
    where = f"search profile {name!r}"
    if is_placeholder(content.get("provider")):
        raise NotConfigured(f"{where} names no provider", hint=f"set `provider` of {name!r} in {WEB_JSON}")
    provider = named(str(content["provider"]).strip(), where)
    if provider.name in disabled:
        raise NotConfigured(f"{where} uses {provider.name}, which `search.disabled` names", hint="take it out there")
    credentials = _credentials(provider, content, {})
    missing = _missing(provider, credentials)
    written = {name for each in provider.credentials for name in (each.name, *each.aliases)} & set(content)
    if missing and (written or provider.keyless is None):
        raise NotConfigured(
            f"{where} has no real {' and no real '.join(missing)} for {provider.title}",
            hint=f"write it into {WEB_JSON} ({provider.remedy})",
            details={"profile": name, "fields": list(missing)},
        )
    access = _access(provider, content, {} if missing else credentials, warnings, where)
    return Candidate(provider, access)


def _chain(
    settings: SearchSettings, environ: Mapping[str, str], powers: Powers, *, browse: bool = False
) -> list[Candidate]:
    for name in settings.providers:
        _check_fields(named(name, "search.providers"), settings.providers[name])
    contents = {named(name, "").name: content for name, content in settings.providers.items()}
    found = [_configured(each, contents.get(each.name, {}), environ, settings, powers) for each in known().values()]
    ordered = sorted((each for each in found if each is not None), key=_place)
    asked = {named(name, "search.order").name: at for at, name in reversed(list(enumerate(settings.order)))}
    pages = _pages(settings) if browse else {}
    wanted = [
        each
        for each in ordered
        if not each.provider.browses or each.provider.name in asked or each.provider.name in pages
    ]
    return sorted(
        wanted, key=lambda each: (asked.get(each.provider.name, len(asked)), pages.get(each.provider.name, len(pages)))
    )


def _pages(settings: SearchSettings) -> dict[str, int]:
    """The result pages in the order in which they are opened, our own browser before the program."""
    from outrider.search.browsing import SUFFIX, chosen

    names = [engine.name + SUFFIX for engine in chosen(settings.browser.engines, "search.browser.engines")]
    return {name: at for at, name in enumerate(dict.fromkeys([*names, "agent_browser"]))}


def _place(candidate: Candidate) -> tuple[int, int, str]:
    """Keys before keyless, what ends soon after what stays, the keyless in their own order."""
    provider = candidate.provider
    if candidate.access.keyless:
        return (2, provider.keyless or 0, provider.name)
    return (1 if provider.sunset else 0, 0, provider.name)


def _configured(
    provider: Provider,
    content: Mapping[str, Any],
    environ: Mapping[str, str],
    settings: SearchSettings,
    powers: Powers,
) -> Candidate | None:
    if provider.missing(powers):
        return None
    credentials = _credentials(provider, content, environ)
    if provider.credentials and not _missing(provider, credentials):
        return Candidate(provider, _access(provider, content, credentials, [], f"search.providers.{provider.name}"))
    own = provider.name == "local"  # needs no key and no network
    if provider.keyless is None or not (settings.keyless or own):
        return None
    return Candidate(provider, _access(provider, content, {}, [], f"search.providers.{provider.name}"))


def _credentials(provider: Provider, content: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, str]:
    found = {each.name: _value(each, content, environ) for each in provider.credentials}
    return {name: value for name, value in found.items() if value and (name != "endpoint" or is_web(value))}


def _value(credential: Credential, content: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    written = [content.get(name) for name in (credential.name, *credential.aliases)]
    exported = [environ.get(name) for name in credential.env]
    real = [str(value).strip() for value in (*written, *exported) if not is_placeholder(value)]
    return real[0] if real else ""


def _missing(provider: Provider, credentials: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(each.name for each in provider.credentials if each.name not in credentials)


def _check_fields(provider: Provider, content: Mapping[str, Any]) -> None:
    allowed = {*OPTIONS, *(name for each in provider.credentials for name in (each.name, *each.aliases))}
    unknown = sorted(set(content) - allowed)
    if unknown:
        raise NotConfigured(
            f"search.providers.{provider.name}: no such setting {', '.join(map(repr, unknown))}",
            hint=f"it takes {', '.join(sorted(allowed))}",
        )


def _access(
    provider: Provider, content: Mapping[str, Any], credentials: Mapping[str, str], warnings: list[str], where: str
) -> Access:
    keyless = not credentials
    own = (provider.keyless_endpoint if keyless else "") or provider.endpoint
    given = credentials.get("endpoint") or ("" if is_placeholder(content.get("endpoint")) else str(content["endpoint"]))
    if given and not is_web(given):
        raise NotConfigured(f"{where}: endpoint is no http(s) address", hint="begin it with https://")
    agent = content.get("user_agent")
    return Access(
        id=_id(provider, credentials, keyless=keyless),
        endpoint=(given or own).rstrip("/"),
        credentials=dict(credentials),
        secrets=tuple(credentials[each.name] for each in provider.credentials if each.secret and credentials),
        trusted=bool(given),
        keyless=keyless,
        timeout=_timeout(content.get("timeout_s"), provider.seconds, warnings, where),
        user_agent="" if is_placeholder(agent) else str(agent).strip(),
        rate=_rate(content.get("rate"), provider.keyless_rate if keyless else provider.rate, where),
    )


def _id(provider: Provider, credentials: Mapping[str, str], *, keyless: bool) -> str:
    """A key that was replaced must not inherit the old one's failures, so a digest is part of the name."""
    if keyless:
        return f"{provider.name}:keyless"
    joined = "\0".join(credentials[name] for name in sorted(credentials))
    return f"{provider.name}#{hashlib.blake2s(joined.encode(), digest_size=4).hexdigest()}"


def _timeout(value: Any, default: float, warnings: list[str], where: str) -> float:
    if value is None:
        return default
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds <= LONGEST_TIMEOUT:
        warnings.append(f"{where}: timeout_s must be above 0 and at most {LONGEST_TIMEOUT:g}; {default:g} is used")
        return default
    return seconds


def _rate(value: Any, default: Rate, where: str) -> Rate:
    if value is None:
        return default
    numbers: Sequence[Any] = value if isinstance(value, list | tuple) else [value, 1.0]
    if len(numbers) == 2 and all(_positive(number) for number in numbers):
        return Rate(float(numbers[0]), float(numbers[1]))
    raise NotConfigured(f"{where}: rate must be calls a second, or [calls, seconds], not {value!r}")


def _positive(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number > 0
