"""Read public pages that refuse Outrider through a reader service.

The operator chooses the service.

The protocol is that of Jina Reader (github.com/jina-ai/reader, README.md and src/dto/crawler-options.ts, read on
2026-11-22): the address in a JSON body, the page as Markdown in a JSON answer, and `DNT` so that nothing is kept.
"""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from outrider.core.errors import OutriderError
from outrider.core.http import HttpClient, RequestLimits

# Names of parameters whose values grant access, or identify a person.
CREDENTIAL_PARAMETER = re.compile(
    r"token|secret|passw|pwd|auth(?!or)|session|signature|credential|api[-_]?key|jwt"
    r"|^(?:code|key|sid|sig|ticket)$|^x-(?:amz|goog)-",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RemoteReading:
    """A page as the service read it."""

    markdown: str
    title: str
    published: str


@dataclass(frozen=True)
class RemoteReader:
    """Ask a reader service for pages.

    Args:
        http: The guarded client.
        service_url: The address of the service, which the operator trusts.
        max_body_bytes: Limit of an answer.
    """

    http: HttpClient
    service_url: str
    max_body_bytes: int

    @property
    def name(self) -> str:
        """The service's host, by which people know it."""
        return urlsplit(self.service_url).netloc

    async def read(self, url: str, *, timeout_s: float) -> RemoteReading | None:
        """Return the page at an address; None if the service must not receive it or cannot read it."""
        if not await self.may_tell(url):
            return None
        service = f"{self.service_url.rstrip('/')}/"
        headers = {"Accept": "application/json", "DNT": "1"}
        limits = RequestLimits(timeout_s=timeout_s, max_body_bytes=self.max_body_bytes)
        try:
            reply = await self.http.request(
                "POST", service, headers=headers, json={"url": url}, limits=limits, trusted=True
            )
            return _parse_reading(reply.json()) if 200 <= reply.status < 300 else None
        except OutriderError:
            return None

    async def may_tell(self, url: str) -> bool:
        """Return whether an address is public and contains nothing that looks like a credential."""
        parts = urlsplit(url)
        if parts.username or parts.password:
            return False
        if any(CREDENTIAL_PARAMETER.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
            return False
        try:
            return await self.http.is_public(url)
        except OutriderError:
            return False


def is_refusal(error: OutriderError) -> bool:
    """Return whether a site refuses programs, rather than asking for a login or a payment."""
    return error.code == "blocked_by_site" or error.details.get("status") == 403


def _parse_reading(body: Any) -> RemoteReading | None:
    """Return the reading in an answer; None if it is empty, or if the site refused the service too."""
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, dict):
        return None
    markdown, warning = data.get("content"), data.get("warning")
    was_refused = isinstance(warning, str) and re.search(r"returned error|captcha", warning, re.IGNORECASE)
    if not isinstance(markdown, str) or not markdown.strip() or was_refused:
        return None
    title, published = data.get("title"), data.get("publishedTime")
    return RemoteReading(
        markdown, title if isinstance(title, str) else "", published if isinstance(published, str) else ""
    )
