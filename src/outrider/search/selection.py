"""Select and order the search providers that settings and environment make usable."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from outrider.core.discovery import discover_instances
from outrider.core.errors import InvalidInput, NotConfigured
from outrider.search import providers, sources
from outrider.search.health import ProviderHealth
from outrider.search.page_providers import PAGE_SUFFIX, build_page_provider, load_engines, resolve_engines
from outrider.search.provider import (
    PROVIDER_ENTRY_POINTS,
    CallRate,
    ProviderAccess,
    SearchProvider,
    SearchServices,
)
from outrider.search.settings import PROFILES_FILE, SearchSettings, is_placeholder
from outrider.search.urls import is_web_url


@dataclass(frozen=True)
class Candidate:
    """A provider, and how this installation reaches it."""

    provider: SearchProvider
    access: ProviderAccess

    def is_same_access(self, other: "Candidate") -> bool:
        """Return whether both reach the same provider at the same endpoint with the same keys."""
        own, others = self.access, other.access
        same_keys = own.secrets == others.secrets and own.endpoint == others.endpoint
        return same_keys and self.provider.name == other.provider.name


@dataclass(frozen=True)
class SearchPlan:
    """The providers to ask, in order; `profile` is the one in force, "" for the default chain."""

    candidates: tuple[Candidate, ...]
    profile: str = ""
    warnings: tuple[str, ...] = ()

    def select_available(self, services: SearchServices) -> "SearchPlan":
        """Return the plan without providers that lack a service now; the profile's stays, and fails with its reason."""
        available = [each for each in self.candidates if not each.provider.explain_unavailable(services)]
        preferred = [each for each in self.candidates[:1] if self.profile and each not in available[:1]]
        return replace(self, candidates=(*preferred, *available))


@dataclass(frozen=True)
class ProviderStatus:
    """A provider as `outrider doctor` reports it.

    `missing` names the credentials that are not set, `reason` says why the provider is not usable.
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
    """Return every provider by name: the built-in ones, those of plugins, and one for each engine's result page."""
    discovered = [
        *discover_instances(providers, SearchProvider, group=PROVIDER_ENTRY_POINTS),
        *map(build_page_provider, load_engines().values()),
    ]
    return {provider.name: provider for provider in discovered}


@lru_cache(maxsize=1)
def load_sources() -> Mapping[str, SearchProvider]:
    """Return every service that is only searched if a search names it, by name."""
    return {source.name: source for source in discover_instances(sources, SearchProvider)}


@lru_cache(maxsize=1)
def load_providers_and_sources() -> Mapping[str, SearchProvider]:
    """Return everything that the settings can name, by name."""
    return {**load_providers(), **load_sources()}


def resolve_provider(name: str, setting: str) -> SearchProvider:
    """Return the provider or source of that name or alias. Raises NotConfigured, which lists the known ones."""
    aliases = {"google": "google_cse", "you_com": "you", "duckduckgo": "ddgs", "web_iq": "webiq"}
    provider = load_providers_and_sources().get(aliases.get(name, name))
    if provider is not None:
        return provider
    close = get_close_matches(name, load_providers_and_sources(), n=1)
    known = f"the providers are {', '.join(sorted(load_providers()))}; the sources {', '.join(sorted(load_sources()))}"
    raise NotConfigured(
        f"{setting}: no search provider {name!r}; {known}",
        hint=f"did you mean {close[0]!r}?" if close else known,
        code="unknown_provider",
    )


def plan_search(
    settings: SearchSettings,
    environ: Mapping[str, str],
    *,
    profile: str | None = None,
    browse: bool = False,
) -> SearchPlan:
    """Return the providers to ask: the profile's first, then those with a key, then the keyless chain.

    With `browse`, result pages in a browser come before all but the profile and the providers in `search.order`.

    Raises NotConfigured for an unknown provider or a profile without real credentials.
    """
    disabled = {resolve_provider(name, "search.disabled").name for name in settings.disabled}
    profile_name, warnings = settings.select_profile(profile)
    chain = [
        candidate
        for candidate in _build_chain(settings, environ, browse=browse)
        if candidate.provider.name not in disabled
    ]
    if profile_name:
        preferred = _build_profile_candidate(settings, profile_name, disabled, warnings)
        chain = [preferred, *(candidate for candidate in chain if not candidate.is_same_access(preferred))]
    return SearchPlan(tuple(chain), profile_name, tuple(warnings))


def plan_source(settings: SearchSettings, environ: Mapping[str, str], name: str) -> SearchPlan:
    """Return a plan that asks one source. Raises InvalidInput for an unknown one, NotConfigured for one turned off."""
    if name not in load_sources():
        raise InvalidInput(f"source: must be one of {', '.join(load_sources())}, not {name!r}")
    found = [each for each in list_source_candidates(settings, environ) if each.provider.name == name]
    if not found:
        raise NotConfigured(
            f"source: {name} is turned off here by search.disabled or search.keyless",
            hint="leave out `source` to search the web",
            code="source_disabled",
        )
    return SearchPlan(tuple(found))


def list_source_candidates(settings: SearchSettings, environ: Mapping[str, str]) -> list[Candidate]:
    """Return the sources that this installation can use."""
    disabled = {resolve_provider(name, "search.disabled").name for name in settings.disabled}
    candidates: list[Candidate] = []
    for source in load_sources().values():
        content = settings.providers.get(source.name, {})
        _check_fields(source, content)
        candidate = _build_candidate(source, content, environ, settings)
        if candidate is not None and source.name not in disabled:
            candidates.append(candidate)
    return candidates


def explain_providers(
    settings: SearchSettings,
    environ: Mapping[str, str],
    *,
    services: SearchServices | None = None,
    health: Mapping[str, ProviderHealth] | None = None,
) -> list[ProviderStatus]:
    """Return every known provider and whether it can be used.

    Providers are in the order of the chain; sources follow.

    Raises NotConfigured if the settings name a provider that does not exist.
    """
    services, health = services or SearchServices(), health or {}
    plan = plan_search(settings.model_copy(update={"profile": ""}), environ, browse=True).select_available(services)
    chain = sorted(plan.candidates, key=lambda each: each.provider.uses_browser)
    ready = {each.provider.name: each.access for each in (*chain, *list_source_candidates(settings, environ))}
    disabled = {resolve_provider(name, "search.disabled").name for name in settings.disabled}
    in_chain = [each.provider.name for each in chain]
    names = [*in_chain, *sorted(set(load_providers()) - set(in_chain)), *sorted(load_sources())]
    known = load_providers_and_sources()
    return [_build_status(known[name], settings, environ, services, ready, disabled, health) for name in names]


def _build_status(  # noqa: PLR0917 - one row of a report needs everything
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
        if provider.keyless_rank is None:
            reason = f"no {' and no '.join(missing)}"
        else:
            reason = "not listed in `search.browser.engines`" if settings.keyless else "`search.keyless` is off"
    remedy = provider.remedy
    if access is None and provider.uses_browser and not provider.explain_unavailable(services):
        remedy = f"add {provider.name.removesuffix('_page')!r} to `search.browser.engines`"
    return ProviderStatus(
        name=provider.name,
        title=provider.title,
        usable=access is not None,
        key=bool(provider.credentials) and not missing,
        keyless=provider.keyless_rank is not None,
        missing=missing,
        reason=reason,
        remedy=remedy,
        health=health.get(access.id) if access else None,
    )


def _build_profile_candidate(settings: SearchSettings, name: str, disabled: set[str], warnings: list[str]) -> Candidate:
    content: Mapping[str, Any] = settings.profiles[name]
    where = f"search profile {name!r}"
    if is_placeholder(content.get("provider")):
        raise NotConfigured(f"{where} names no provider", hint=f"set `provider` of {name!r} in {PROFILES_FILE}")
    provider = resolve_provider(str(content["provider"]).strip(), where)
    if provider.name in disabled:
        raise NotConfigured(
            f"{where} uses {provider.name}, which is disabled", hint=f"remove {provider.name} from `search.disabled`"
        )
    credentials = _collect_credentials(provider, content, {})
    missing = _list_missing(provider, credentials)
    written = {name for each in provider.credentials for name in (each.name, *each.aliases)} & set(content)
    if missing and (written or provider.keyless_rank is None):
        raise NotConfigured(
            f"{where} has no real {' and no real '.join(missing)} for {provider.title}",
            hint=f"set it in {PROFILES_FILE} ({provider.remedy})",
            details={"profile": name, "fields": list(missing)},
        )
    access = _build_access(provider, content, {} if missing else credentials, warnings, where)
    return Candidate(provider, access)


def _build_chain(settings: SearchSettings, environ: Mapping[str, str], *, browse: bool = False) -> list[Candidate]:
    for name in settings.providers:
        _check_fields(resolve_provider(name, "search.providers"), settings.providers[name])
    contents = {resolve_provider(name, "").name: content for name, content in settings.providers.items()}
    named = {resolve_provider(name, "search.order").name: at for at, name in reversed(list(enumerate(settings.order)))}
    result_pages: dict[str, int] = {}
    if browse:  # our own browser before the program
        engines = resolve_engines(settings.browser.engines, "search.browser.engines")
        page_names = dict.fromkeys([*(engine.name + PAGE_SUFFIX for engine in engines), "agent_browser"])
        result_pages = {name: at for at, name in enumerate(page_names)}

    def rank_candidate(candidate: Candidate) -> tuple[int, int, int, int, str]:
        """Order by `search.order`, result pages, keys before keyless, lasting before ending, keyless rank."""
        provider = candidate.provider
        kind = 2 if candidate.access.keyless else 1 if provider.sunset_date else 0
        keyless_rank = provider.keyless_rank or 0 if candidate.access.keyless else 0
        order = named.get(provider.name, len(named)), result_pages.get(provider.name, len(result_pages))
        return (*order, kind, keyless_rank, provider.name)

    configured = named.keys() | result_pages.keys()
    candidates = [
        candidate
        for provider in load_providers().values()
        if not provider.uses_browser or provider.name in configured  # otherwise it would look for a browser needlessly
        if (candidate := _build_candidate(provider, contents.get(provider.name, {}), environ, settings))
    ]
    return sorted(candidates, key=rank_candidate)


def _build_candidate(
    provider: SearchProvider,
    content: Mapping[str, Any],
    environ: Mapping[str, str],
    settings: SearchSettings,
) -> Candidate | None:
    credentials = _collect_credentials(provider, content, environ)
    has_key = bool(provider.credentials) and not _list_missing(provider, credentials)
    # `search.keyless` is about web services; the local index needs neither a key nor a network.
    is_keyless_allowed = provider.keyless_rank is not None and (settings.keyless or provider.name == "local")
    if not has_key and not is_keyless_allowed:
        return None
    where = f"search.providers.{provider.name}"
    return Candidate(provider, _build_access(provider, content, credentials if has_key else {}, [], where))


def _collect_credentials(
    provider: SearchProvider, content: Mapping[str, Any], environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the credentials that are set, by name; the settings win over the environment."""
    credentials: dict[str, str] = {}
    for credential in provider.credentials:
        values = [content.get(name) for name in (credential.name, *credential.aliases)]
        values += [environ.get(name) for name in credential.env]
        value = next((str(value).strip() for value in values if not is_placeholder(value)), "")
        if value and (credential.name != "endpoint" or is_web_url(value)):
            credentials[credential.name] = value
    return credentials


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
    default_endpoint = (provider.keyless_endpoint if keyless else "") or provider.endpoint
    endpoint_text = credentials.get("endpoint") or (
        "" if is_placeholder(content.get("endpoint")) else str(content["endpoint"])
    )
    if endpoint_text and not is_web_url(endpoint_text):
        raise NotConfigured(f"{where}: endpoint is not an http(s) address", hint="begin it with https://")
    agent = content.get("user_agent")
    # A key that was replaced must not inherit the old one's failures, so the id holds a digest of the key.
    joined = "\0".join(credentials[name] for name in sorted(credentials))
    digest = hashlib.blake2s(joined.encode(), digest_size=4).hexdigest()
    return ProviderAccess(
        id=f"{provider.name}:keyless" if keyless else f"{provider.name}#{digest}",
        endpoint=(endpoint_text or default_endpoint).rstrip("/"),
        credentials=dict(credentials),
        secrets=tuple(credentials[each.name] for each in provider.credentials if each.secret and credentials),
        trusted=bool(endpoint_text),
        keyless=keyless,
        timeout=_parse_timeout(content.get("timeout_s"), provider.timeout_s, warnings, where),
        user_agent="" if is_placeholder(agent) else str(agent).strip(),
        rate=CallRate.from_setting(content.get("rate"), provider.keyless_rate if keyless else provider.rate, where),
    )


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
