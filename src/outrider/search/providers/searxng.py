"""SearXNG, a self-hosted metasearch engine.

"Search API" (docs.searxng.org/dev/search_api.html) and SearXNG's own checks of parameters and list of locales
(github.com/searxng/searxng, searx/webadapter.py and searx/sxng_locales.py), read on 2026-11-22: ages are day, week,
month and year, ranges of days are unknown, and a country is part of a locale such as `de-AT`.

Its pages are as long as its engines make them, so one of our pages is cut from all of its pages so far.
"""

import re
from typing import Any

from outrider.search.failures import FailureCode, build_failure
from outrider.search.locales import choose_language
from outrider.search.provider import (
    CallRate,
    Credential,
    ErrorRule,
    ProviderAccess,
    ProviderRequest,
    Query,
    ResultItem,
    SearchProvider,
    list_items,
    require_keys,
)

RESOLUTION = re.compile(r"(\d+)\s*[x×]\s*(\d+)")


# The first locale of a country is that of its main language.
LOCALES = (
    "af ar ar-SA bg bg-BG ca cs cs-CZ cy da da-DK de de-DE de-AT de-CH nl-BE de-BE el el-GR en en-US en-GB en-AU en-CA "
    "en-IE en-IN en-NZ en-PH en-PK en-SG en-ZA es es-ES es-AR es-CL es-CO es-MX es-PE es-VE ca-ES et et-EE fa fi fi-FI "
    "fil fil-PH fr fr-FR fr-BE fr-CA fr-CH gl hi hi-IN hr hr-HR hu hu-HU id id-ID it it-IT it-CH ja ja-JP ko ko-KR lt "
    "lt-LT lv lv-LV mi mi-NZ nb nb-NO nl nl-NL nn nn-NO pl pl-PL pt pt-BR pt-PT ro ro-RO ru ru-RU sk sk-SK sl sl-SI sq "
    "sv sv-SE sv-FI th th-TH tr tr-TR uk uk-UA vi vi-VN zh zh-CN zh-HK en-HK zh-TW"
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    safe_search_levels = {"off": 0, "moderate": 1, "strict": 2}
    categories = {"web": "general", "image": "images", "news": "news"}
    locale, notes = _choose_locale(query)
    params = {
        "format": "json",
        "q": query.text,
        "pageno": query.page,
        "time_range": query.freshness,
        "language": locale,
        "safesearch": safe_search_levels[query.safe],
        "categories": categories[query.mode],
    }
    return ProviderRequest(f"{access.endpoint.removesuffix('/search')}/search", params=params, notes=notes)


def _choose_locale(query: Query) -> tuple[str | None, tuple[str, ...]]:
    """Return SearXNG's locale, and notes on what it lacks."""
    locales = {locale.lower(): locale for locale in LOCALES.split()}
    region = query.country_code
    if query.language:
        locale = locales.get(choose_language(query, locales) or "")
        if locale is None:
            return None, (f"SearXNG cannot choose the language {query.language}",)
        locale = locale if locale.endswith(f"-{region}") or locale.startswith("zh") else locale.split("-")[0]
        is_missing = query.region is not None and "-" not in locale
        return locale, (f"SearXNG cannot choose the region {region} for {locale}",) if is_missing else ()
    if region is None:
        return None, ()
    locale = next((locale for locale in locales.values() if locale.endswith(f"-{region}")), None)
    if locale is None:
        return None, (f"SearXNG cannot choose the region {region}",)
    return locale, (f"SearXNG takes a region only with a language: {locale} was searched",)


def parse_results(body: Any, query: Query) -> list[ResultItem]:
    """Map the answer; no results from engines that did not respond are a failure."""
    body = require_keys(body, "results", name="SearXNG")
    items = list_items(body, "results", name="SearXNG")
    unresponsive = body.get("unresponsive_engines")
    if not items and isinstance(unresponsive, list) and unresponsive:
        text = ", ".join(  # each engine is a name, or a list of name and reason
            ": ".join(str(part) for part in engine) if isinstance(engine, list) else str(engine)
            for engine in unresponsive
        )
        code: FailureCode = (
            "captcha" if "captcha" in text.lower() else "rate_limited" if "too many" in text.lower() else "unavailable"
        )
        raise build_failure(
            code, f"SearXNG: none of its engines answered ({text})", hint="enable other engines in settings.yml"
        )
    return [_parse_item(item) for item in items if item.get("img_src") or query.mode != "image"]


def _parse_item(item: ResultItem) -> ResultItem:
    size = RESOLUTION.search(str(item.get("resolution") or ""))
    return {
        "title": item.get("title"),
        "url": item.get("url"),
        "snippet": item.get("content"),
        "published": item.get("publishedDate"),
        "score": item.get("score"),
        "image_url": item.get("img_src"),
        "page_url": item.get("url"),
        "thumbnail_url": item.get("thumbnail_src") or item.get("thumbnail"),
        "width": size[1] if size else None,
        "height": size[2] if size else None,
    }


provider = SearchProvider(
    name="searxng",
    title="SearXNG",
    remedy="run SearXNG with json in search.formats and set SEARXNG_URL to its address",
    credentials=(
        Credential("endpoint", aliases=("url", "base_url"), env=("SEARXNG_URL", "SEARXNG_BASE_URL"), secret=False),
    ),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
    site_operator=True,
    has_own_pages=True,
    rate=CallRate(5, 1.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(403, "not_configured", hint="JSON is off: add json to search.formats in settings.yml"),),
)
