"""Microsoft Web IQ, the successor of Bing's API: learn.microsoft.com/web-iq."""

from typing import Any

from outrider.search.provider import Access, Ask, Credential, Item, Provider, Query, Rule, expect, items


def ask(query: Query, access: Access) -> Ask:
    """`content` of a result is a passage for models; asked for in plain text."""
    body = {"query": query.text, "maxResults": query.count, "language": query.lang}
    return Ask(f"{access.endpoint}/search/web", "POST", json=body, headers={"x-apikey": access.key})


def read(body: Any, _query: Query) -> list[Item]:
    body = expect(body, "webResults", name="Web IQ")
    return [
        {
            "title": item.get("title"),
            "url": item.get("url"),
            "snippet": item.get("content"),
            "published": item.get("lastUpdatedAt"),
        }
        for item in items(body, "webResults", name="Web IQ")
    ]


provider = Provider(
    name="webiq",
    title="Web IQ",
    remedy="get a key at webiq.microsoft.ai and set WEBIQ_API_KEY",
    endpoint="https://api.microsoft.ai/v3",
    credentials=(Credential(aliases=("token", "subscription_key"), env=("WEBIQ_API_KEY",)),),
    features=frozenset({"language"}),
    site_operator=True,
    max_count=20,
    ask=ask,
    read=read,
    rules=(Rule(430, "quota"),),
)
