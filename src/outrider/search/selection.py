"""From settings and environment to the providers that can be asked here, in which order and how."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from outrider.core.discovery import discover_instances
from outrider.core.errors import NotConfigured
from outrider.search import providers
from outrider.search.health import ProviderHealth
from outrider.search.page_providers import build_page_provider, load_engines
from outrider.search.placeholder import is_placeholder
from outrider.search.provider import (
    PROVIDER_ENTRY_POINTS,
    CallRate,
    Credential,
    ProviderAccess,
    SearchProvider,
    SearchServices,
)
from outrider.search.settings import PROFILES_FILE, SearchSettings
from outrider.search.urls import is_web_url


@dataclass(frozen=True)
class Candidate:
    """A provider and the way to it."""

    provider: SearchProvider
    access: ProviderAccess


@dataclass(frozen=True)
class SearchPlan:
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
    health: ProviderHealth | None = field(default=None)


@lru_cache(maxsize=1)
def load_providers() -> Mapping[str, SearchProvider]:
    """Every provider by name: those in the folder, those of plugins, and one for each engine's result page."""
    found = [
        *discover_instances(providers, SearchProvider, group=PROVIDER_ENTRY_POINTS),
        *map(build_page_provider, load_engines().values()),
    ]
    return {provider.name: provider for provider in found}


def resolve_provider(name: str, setting: str) -> SearchProvider:
    """The provider of that name or alias. Raises NotConfigured that lists the known ones."""
    aliases = {"google": "google_cse", "you_com": "you", "duckduckgo": "ddgs", "web_iq": "webiq"}
    provider = load_providers().get(aliases.get(name, name))
    if provider is not None:
        return provider
    close = get_close_matches(name, load_providers(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the providers are {', '.join(sorted(load_providers()))}"
    listed = f"the known ones are {', '.join(sorted(load_providers()))}"
    raise NotConfigured(f"{setting}: no search provider {name!r}; {listed}", hint=hint, code="unknown_provider")


def plan_search(
    settings: SearchSettings,
    environ: Mapping[str, str],
    services: SearchServices,
    *,
    now: float,
    profile: str | None = None,
    browse: bool = False,
) -> SearchPlan:
    """The providers to ask: the profile's first, then those with a key, then the keyless chain.

    With `browse` result pages in a browser stand before all but the profile and what `search.order` names.

    Raises NotConfigured for an unknown provider or a profile without real credentials.
    """
    disabled = {resolve_provider(name, "search.disabled").name for name in settings.disabled}
    chosen, warnings = _select_profile(settings, profile)
    first = [_build_profile_candidate(settings, chosen, disabled, warnings)] if chosen else []
    chain = _build_chain(settings, environ, services, browse=browse)
    rest = [each for each in chain if each.provider.name not in disabled]
    seen = {(each.provider.name, each.access.secrets, each.access.endpoint) for each in first}
    rest = [each for each in rest if (each.provider.name, each.access.secrets, each.access.endpoint) not in seen]
    candidates = tuple(Candidate(each.provider, each.access.with_time(now)) for each in (*first, *rest))
    return SearchPlan(candidates, chosen, tuple(warnings))


def explain_providers(
    settings: SearchSettings,
    environ: Mapping[str, str],
    *,
    services: SearchServices | None = None,
    health: Mapping[str, ProviderHealth] | None = None,
) -> list[ProviderStatus]:
    """Every known provider, and whether it can be used here; the order is that of the chain.

    Raises NotConfigured where the settings name a provider that does not exist.
    """
    services, health = services or SearchServices(), health or {}
    usable = plan_search(
        settings.model_copy(update={"profile": ""}), environ, services, now=0.0, browse=True
    ).candidates
    usable = sorted(usable, key=lambda each: each.provider.uses_browser)
    ready = {each.provider.name: each.access for each in usable}
    disabled = {resolve_provider(name, "search.disabled").name for name in settings.disabled}
    names = [*ready, *sorted(set(load_providers()) - set(ready))]
    return [
        _build_status(load_providers()[name], settings, environ, services, ready, disabled, health) for name in names
    ]


def _build_status(  # noqa: PLR0917 - one row of a report, from everything there is
    provider: SearchProvider,
    settings: SearchSettings,
    environ: Mapping[str, str],
    services: SearchServices,
    usable: Mapping[str, ProviderAccess],
    disabled: set[str],
    health: Mapping[str, ProviderHealth],
) -> ProviderStatus:
    access = usable.get(provider.name)
    missing = _list_missing(
        provider, _collect_credentials(provider, settings.providers.get(provider.name, {}), environ)
    )
    reason = "" if access else "disabled" if provider.name in disabled else provider.explain_unavailable(services)
    if access is None and not reason:
        reason = _why_not(provider, settings, missing)
    return ProviderStatus(
        name=provider.name,
        title=provider.title,
        usable=access is not None,
        key=bool(provider.credentials) and not missing,
        keyless=provider.keyless_rank is not None,
        missing=missing,
        reason=reason,
        remedy=_describe_remedy(provider, services, usable=access is not None),
        health=health.get(access.id) if access else None,
    )


def _describe_remedy(provider: SearchProvider, services: SearchServices, *, usable: bool) -> str:
    if usable or not provider.uses_browser or provider.explain_unavailable(services):
        return provider.remedy
    return f"add {provider.name.removesuffix('_page')!r} to `search.browser.engines`"


def _why_not(provider: SearchProvider, settings: SearchSettings, missing: tuple[str, ...]) -> str:
    if provider.keyless_rank is None:
        return f"no {' and no '.join(missing)}"
    return "`search.browser.engines` does not name it" if settings.keyless else "keyless use is off"


def _select_profile(settings: SearchSettings, profile: str | None) -> tuple[str, list[str]]:
    """The profile in force, and what is wrong with those that cannot be."""
    no_profile_names = frozenset({"", "default"})
    name = (settings.profile if profile is None else profile).strip()
    warnings = [
        f"search profile {each!r} is ignored: it is no object"
        for each, content in settings.profiles.items()
        if not isinstance(content, dict)
    ]
    if name in no_profile_names:
        return "", warnings
    if isinstance(settings.profiles.get(name), dict):
        return name, warnings
    if name not in settings.profiles:
        others = ", ".join(sorted(settings.profiles)) or "none"
        warnings.append(f"no search profile {name!r} (there are: {others}); the default chain is used")
    return "", warnings


def _build_profile_candidate(settings: SearchSettings, name: str, disabled: set[str], warnings: list[str]) -> Candidate:
    content: Mapping[str, Any] = settings.profiles[name]
    where = f"search profile {name!r}"
    if is_placeholder(content.get("provider")):
        raise NotConfigured(f"{where} names no provider", hint=f"set `provider` of {name!r} in {PROFILES_FILE}")
    provider = resolve_provider(str(content["provider"]).strip(), where)
    if provider.name in disabled:
        raise NotConfigured(f"{where} uses {provider.name}, which `search.disabled` names", hint="take it out there")
    credentials = _collect_credentials(provider, content, {})
    missing = _list_missing(provider, credentials)
    written = {name for each in provider.credentials for name in (each.name, *each.aliases)} & set(content)
    if missing and (written or provider.keyless_rank is None):
        raise NotConfigured(
            f"{where} has no real {' and no real '.join(missing)} for {provider.title}",
            hint=f"write it into {PROFILES_FILE} ({provider.remedy})",
            details={"profile": name, "fields": list(missing)},
        )
    access = _build_access(provider, content, {} if missing else credentials, warnings, where)
    return Candidate(provider, access)


def _build_chain(
    settings: SearchSettings, environ: Mapping[str, str], services: SearchServices, *, browse: bool = False
) -> list[Candidate]:
    for name in settings.providers:
        _check_fields(resolve_provider(name, "search.providers"), settings.providers[name])
    contents = {resolve_provider(name, "").name: content for name, content in settings.providers.items()}
    found = [
        _build_candidate(each, contents.get(each.name, {}), environ, settings, services)
        for each in load_providers().values()
    ]
    ordered = sorted((each for each in found if each is not None), key=_rank_candidate)
    asked = {resolve_provider(name, "search.order").name: at for at, name in reversed(list(enumerate(settings.order)))}
    pages = _rank_result_pages(settings) if browse else {}
    wanted = [
        each
        for each in ordered
        if not each.provider.uses_browser or each.provider.name in asked or each.provider.name in pages
    ]
    return sorted(
        wanted, key=lambda each: (asked.get(each.provider.name, len(asked)), pages.get(each.provider.name, len(pages)))
    )


def _rank_result_pages(settings: SearchSettings) -> dict[str, int]:
    """The result pages in the order in which they are opened, our own browser before the program."""
    from outrider.search.page_providers import PAGE_SUFFIX, resolve_engines

    names = [
        engine.name + PAGE_SUFFIX for engine in resolve_engines(settings.browser.engines, "search.browser.engines")
    ]
    return {name: at for at, name in enumerate(dict.fromkeys([*names, "agent_browser"]))}


def _rank_candidate(candidate: Candidate) -> tuple[int, int, str]:
    """Keys before keyless, what ends soon after what stays, the keyless in their own order."""
    provider = candidate.provider
    if candidate.access.keyless:
        return (2, provider.keyless_rank or 0, provider.name)
    return (1 if provider.sunset_date else 0, 0, provider.name)


def _build_candidate(
    provider: SearchProvider,
    content: Mapping[str, Any],
    environ: Mapping[str, str],
    settings: SearchSettings,
    services: SearchServices,
) -> Candidate | None:
    if provider.explain_unavailable(services):
        return None
    credentials = _collect_credentials(provider, content, environ)
    if provider.credentials and not _list_missing(provider, credentials):
        return Candidate(
            provider, _build_access(provider, content, credentials, [], f"search.providers.{provider.name}")
        )
    own = provider.name == "local"  # needs no key and no network
    if provider.keyless_rank is None or not (settings.keyless or own):
        return None
    return Candidate(provider, _build_access(provider, content, {}, [], f"search.providers.{provider.name}"))


def _collect_credentials(
    provider: SearchProvider, content: Mapping[str, Any], environ: Mapping[str, str]
) -> dict[str, str]:
    found = {each.name: _find_credential(each, content, environ) for each in provider.credentials}
    return {name: value for name, value in found.items() if value and (name != "endpoint" or is_web_url(value))}


def _find_credential(credential: Credential, content: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    written = [content.get(name) for name in (credential.name, *credential.aliases)]
    exported = [environ.get(name) for name in credential.env]
    real = [str(value).strip() for value in (*written, *exported) if not is_placeholder(value)]
    return real[0] if real else ""


def _list_missing(provider: SearchProvider, credentials: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(each.name for each in provider.credentials if each.name not in credentials)


def _check_fields(provider: SearchProvider, content: Mapping[str, Any]) -> None:
    common_options = ("endpoint", "timeout_s", "user_agent", "rate")
    allowed = {*common_options, *(name for each in provider.credentials for name in (each.name, *each.aliases))}
    unknown = sorted(set(content) - allowed)
    if unknown:
        raise NotConfigured(
            f"search.providers.{provider.name}: no such setting {', '.join(map(repr, unknown))}",
            hint=f"it takes {', '.join(sorted(allowed))}",
        )


def _build_access(
    provider: SearchProvider,
    content: Mapping[str, Any],
    credentials: Mapping[str, str],
    warnings: list[str],
    where: str,
) -> ProviderAccess:
    keyless = not credentials
    own = (provider.keyless_endpoint if keyless else "") or provider.endpoint
    given = credentials.get("endpoint") or ("" if is_placeholder(content.get("endpoint")) else str(content["endpoint"]))
    if given and not is_web_url(given):
        raise NotConfigured(f"{where}: endpoint is no http(s) address", hint="begin it with https://")
    agent = content.get("user_agent")
    return ProviderAccess(
        id=_build_access_id(provider, credentials, keyless=keyless),
        endpoint=(given or own).rstrip("/"),
        credentials=dict(credentials),
        secrets=tuple(credentials[each.name] for each in provider.credentials if each.secret and credentials),
        trusted=bool(given),
        keyless=keyless,
        timeout=_parse_timeout(content.get("timeout_s"), provider.timeout_s, warnings, where),
        user_agent="" if is_placeholder(agent) else str(agent).strip(),
        rate=_parse_rate(content.get("rate"), provider.keyless_rate if keyless else provider.rate, where),
    )


def _build_access_id(provider: SearchProvider, credentials: Mapping[str, str], *, keyless: bool) -> str:
    """A key that was replaced must not inherit the old one's failures, so a digest is part of the name."""
    if keyless:
        return f"{provider.name}:keyless"
    joined = "\0".join(credentials[name] for name in sorted(credentials))
    return f"{provider.name}#{hashlib.blake2s(joined.encode(), digest_size=4).hexdigest()}"


def _parse_timeout(value: Any, default: float, warnings: list[str], where: str) -> float:
    max_timeout_s = 120.0
    if value is None:
        return default
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds <= max_timeout_s:
        warnings.append(f"{where}: timeout_s must be above 0 and at most {max_timeout_s:g}; {default:g} is used")
        return default
    return seconds


def _parse_rate(value: Any, default: CallRate, where: str) -> CallRate:
    if value is None:
        return default
    numbers: Sequence[Any] = value if isinstance(value, list | tuple) else [value, 1.0]
    if len(numbers) == 2 and all(_positive(number) for number in numbers):
        return CallRate(float(numbers[0]), float(numbers[1]))
    raise NotConfigured(f"{where}: rate must be calls a second, or [calls, seconds], not {value!r}")


def _positive(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number > 0
