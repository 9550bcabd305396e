"""Tells a block or CAPTCHA page from an answer, by what the page says and not by its status.

Search engines send such pages with 200, 202, 403, 429 and 503 alike (DuckDuckGo's normal status is
202), so that the status alone proves nothing.
"""

import re
from typing import Literal

READ = 60_000  # characters; the telling marks stand near the beginning

CAPTCHA = re.compile(
    r"captcha|cf-turnstile|cf-challenge|challenge-form|challenge-platform|anomaly[-_.]?modal|anomaly\.js"
    r"|bots use duckduckgo|unusual traffic|(?:you are|you're) (?:not a robot|human|a human)"
    r"|verif\w+ (?:that )?you|are you a robot|robot check|smartcaptcha|checking your browser|proof[- ]of[- ]work"
    r"|wappass\.baidu|安全验证",
    re.IGNORECASE,
)
BLOCKED = re.compile(
    r"httpservice/retry/enablejs|access (?:to this page )?(?:is |has been )?denied|request(?: has been| was)? blocked"
    r"|you have been blocked|attention required|automated (?:queries|requests)|temporarily blocked"
    r"|ip address .{0,40}block",
    re.IGNORECASE,
)
PAGE = re.compile(r"\s*(?:\ufeff)?\s*<(?:!doctype|html|head|body|!--|title|h1|div|\?xml)", re.IGNORECASE)


def is_page(content_type: str, text: str) -> bool:
    """Whether the body is a web page and no JSON, whatever its header claims."""
    if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
        return False
    return "html" in content_type.lower() or PAGE.match(text) is not None


def why_blocked(text: str) -> Literal["captcha", "blocked"] | None:
    """What kind of wall the page is, or None for an ordinary page."""
    beginning = text[:READ]
    if CAPTCHA.search(beginning):
        return "captcha"
    return "blocked" if BLOCKED.search(beginning) else None
