"""Find a provider's own codes for languages and countries."""

from collections.abc import Collection, Mapping

from outrider.search.provider import Query

TRADITIONAL_CHINESE = frozenset({"hant", "tw", "hk", "mo"})


def choose_language(query: Query, codes: Collection[str], other_names: Mapping[str, str] | None = None) -> str | None:
    """Return the provider's code, in lower case, that is nearest to the query's language; None without any.

    Args:
        query: Its region decides between the variants of a language.
        codes: The codes that the provider takes, in lower case, for instance `de`, `zh-hant` and `pt-br`.
        other_names: The provider's own codes for languages, by ours.
    """
    # Current codes for those that ISO 639 has replaced, or that have a code for their written standard.
    modern_languages = {"iw": "he", "in": "id", "ji": "yi", "no": "nb", "nn": "nb"}
    if query.language is None or query.language_code is None:
        return None
    names = other_names or {}
    tag = query.language.replace("_", "-").lower()
    language = modern_languages.get(query.language_code, query.language_code)
    region = (query.country_code or "").lower()
    candidates = [tag] if "-" in tag else []
    candidates.append(f"{language}-{region}")
    if language == "zh":
        is_traditional = bool(TRADITIONAL_CHINESE & {*tag.split("-"), region})
        candidates += ["zh-hant", "zh-tw"] if is_traditional else ["zh-hans", "zh-cn"]
    candidates += [language, query.language_code]
    candidates += sorted(code for code in codes if code.startswith(f"{language}-"))
    return next((name for each in candidates if (name := names.get(each, each)) in codes), None)


def describe_missing(title: str, query: Query, language: str | None, country: str | None) -> tuple[str, ...]:
    """Return a note on a language or region that the provider lacks."""
    notes = []
    if query.language and not language:
        notes.append(f"{title} cannot choose the language {query.language}")
    if query.region and not country:
        notes.append(f"{title} cannot choose the region {query.country_code}")
    return tuple(notes)


def choose_google_language(query: Query) -> str | None:
    """Return Google's code for the language of its page (`hl`), with the region where Google has one."""
    # Languages that Google's pages have in variants for regions, as Google writes them.
    google_variants = ("en-GB", "fr-CA", "pt-BR", "pt-PT", "zh-CN", "zh-HK", "zh-TW", "es-419")
    variants: Mapping[str, str] = {code.lower(): code for code in google_variants}
    if not query.language_code:
        return None
    found = choose_language(query, variants)
    tag = (query.language or "").replace("_", "-").lower()
    wanted_variants = {tag, f"{query.language_code}-{(query.country_code or '').lower()}"}
    if found is not None and (found.startswith(("zh", "pt")) or found in wanted_variants):
        return variants[found]
    own_names = {"he": "iw", "nb": "no", "nn": "no"}
    return own_names.get(query.language_code, query.language_code)


def choose_google_restriction(query: Query) -> str | None:
    """Return Google's code for results in one language (`lr`); None if it has none for it."""
    # developers.google.com/custom-search/v1/reference/rest/v1/cse/list, parameter `lr`.
    languages = (
        "ar bg ca cs da de el en es et fi fr hr hu id is it iw ja ko lt lv nl no pl pt ro ru sk sl sr sv tr zh-CN zh-TW"
    )
    code = choose_google_language(query)
    if code is None:
        return None
    code = "zh-TW" if code == "zh-HK" else code if code.startswith("zh") else code.split("-")[0]
    return f"lang_{code}" if code in languages.split() else None


def choose_google_country(query: Query) -> str | None:
    """Return Google's code for the country (`gl`), in which the United Kingdom is `uk`."""
    country = (query.country_code or "").lower()
    return "uk" if country == "gb" else country or None


def build_google_time_filter(query: Query) -> str | None:
    """Return Google's filter by time (`tbs`): an age or a range of days, which is written as month/day/year."""
    if query.freshness:
        return f"qdr:{query.freshness[0]}"
    if not query.since and not query.until:
        return None
    first, last = (f"{day:%m/%d/%Y}" if day else "" for day in (query.since, query.until))
    return f"cdr:1,cd_min:{first},cd_max:{last}"


def choose_duckduckgo_region(query: Query) -> str | None:
    """Return DuckDuckGo's code for a country with its language (`kl`), for instance `at-de`; None without any."""
    # duckduckgo.com/duckduckgo-help-pages/settings/params, and the site's own menu as github.com/searxng/searxng
    # records it in searx/data/engine_traits.json, read on 2026-11-22. The first of a country is its main language.
    regions = (
        "ar-es au-en at-de be-nl be-fr br-pt bg-bg ca-en ca-fr cl-es cn-zh co-es hr-hr cz-cs dk-da ee-et fi-fi fr-fr "
        "de-de gr-el hk-tzh hu-hu is-is in-en id-id id-en ie-en il-he il-en it-it jp-jp kr-kr lv-lv lt-lt my-ms my-en "
        "mx-es nl-nl nz-en no-no pk-en pe-es ph-en ph-tl pl-pl pt-pt ro-ro ru-ru sg-en sk-sk sl-sl za-en es-es es-ca "
        "se-sv ch-de ch-fr ch-it tw-tzh th-th th-en tr-tr ua-uk uk-en us-en us-es ve-es vn-vi vn-en xa-ar xa-en xl-es "
        "ct-ca"
    )
    codes = regions.split()
    # `xa` and `xl` mean the Arab countries and the Latin American ones without their own code.
    groups = {
        "uk": "gb",
        "sl": "si",
        "xa": "ae bh dz eg iq jo kw lb ly ma om qa sa sy tn ye",
        "xl": "bo cr cu do ec gt hn ni pa pr py sv uy",
    }
    own_countries = {country: own for own, members in groups.items() for country in members.split()}
    own_languages = {"ja": "jp", "ko": "kr", "nb": "no", "nn": "no", "fil": "tl"}
    homes = {"en": "us", "zh": "cn", "pt": "pt", "es": "es", "fr": "fr", "ar": "xa", "ca": "ct", "de": "de", "nl": "nl"}
    language = own_languages.get(query.language_code or "", query.language_code or "")
    country = (query.country_code or ("xl" if query.language == "es-419" else homes.get(language, ""))).lower()
    country = own_countries.get(country, country)
    language = "tzh" if language == "zh" and country in {"hk", "tw"} else language
    own = [code for code in codes if code.startswith(f"{country}-")] if country else []
    if not country:
        own = [code for code in codes if code.endswith(f"-{language}")] if language else []
    return next((code for code in own if code.endswith(f"-{language}")), own[0] if own else None)
