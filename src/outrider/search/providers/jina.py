"""Jina's search (s.jina.ai), without the text of the pages, which costs most.

The source of the service (github.com/jina-ai/reader, src/api/searcher.ts and src/3rd-party/serper-search.ts), read on
2026-11-22: `num` up to 20, `gl`, `hl` and `page`, and neither dates nor safe search. "Nothing found" is an error 422.
"""

from typing import Any

from outrider.search.locales import choose_language, describe_missing
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

LANGUAGES = (
    "af ak sq am ar hy az eu be bn bs br bg km ca zh-cn zh-tw co hr cs da nl en eo et ee fo tl fi fr fy gl ka de el "
    "gn gu ht ha haw iw hi hu is ig id ia ga it ja jw kn kk rw rn kg ko ku ckb ky lo la lv ln lt lg mk mg ms ml mt mi "
    "mr mn ne nso no nn oc or om ps fa pl pt pt-br pt-pt pa qu ro rm ru gd sr sh st tn sn sd si sk sl so es es-419 su "
    "sw sv tg ta tt te th ti to tr tk tw ug uk ur uz vi cy wo xh yi yo zu"
)


def build_request(query: Query, access: ProviderAccess) -> ProviderRequest:
    kinds = {"web": None, "image": "images", "news": "news"}
    language = choose_language(query, LANGUAGES.split(), {"nb": "no", "he": "iw", "fil": "tl", "jv": "jw"})
    params = {
        "q": query.text,
        "num": query.count,
        "page": query.page if query.page > 1 else None,
        "type": kinds[query.mode],
        "gl": query.country_code.lower() if query.country_code else None,
        "hl": language,
    }
    headers = {"Authorization": f"Bearer {access.api_key}", "X-Respond-With": "no-content"}
    notes = describe_missing("Jina", query, language, query.country_code)
    return ProviderRequest(f"{access.endpoint}/", params=params, headers=headers, notes=notes)


def parse_results(body: Any, _query: Query) -> list[ResultItem]:
    body = require_keys(body, "data", name="Jina")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("description"),
            "published": item.get("date"),
            "image_url": item.get("imageUrl"),
            "width": item.get("imageWidth"),
            "height": item.get("imageHeight"),
        }
        for item in list_items(body, "data", name="Jina")
    ]


provider = SearchProvider(
    name="jina",
    title="Jina",
    remedy="get a key at jina.ai/api-dashboard and set JINA_API_KEY",
    endpoint="https://s.jina.ai",
    credentials=(Credential(aliases=("token",), env=("JINA_API_KEY",)),),
    modes=frozenset({"web", "image", "news"}),
    features=frozenset({"language", "region", "page"}),
    site_operator=True,
    max_count=20,
    rate=CallRate(1, 1.0),
    build_request=build_request,
    parse_results=parse_results,
    error_rules=(ErrorRule(403, "quota", pattern="balance|quota"),),
    no_results_pattern="No search results available",
)
