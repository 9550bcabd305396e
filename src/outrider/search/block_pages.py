"""Recognize block and CAPTCHA pages by their text.

Search engines send such pages with status 200, 202, 403, 429 or 503 (DuckDuckGo's normal status is 202), so that the
status alone proves nothing.
"""

import re
from typing import Literal

CAPTCHA_MARKS = re.compile(
    r"captcha|cf-turnstile|cf-challenge|challenge-form|challenge-platform|anomaly[-_.]?modal|anomaly\.js"
    r"|bots use duckduckgo|unusual traffic|(?:you are|you're) (?:not a robot|human|a human)"
    r"|verif\w+ (?:that )?you|are you a robot|robot check|smartcaptcha|checking your browser|proof[- ]of[- ]work"
    r"|wappass\.baidu|安全验证",
    re.IGNORECASE,
)
BLOCK_MARKS = re.compile(
    r"httpservice/retry/enablejs|access (?:to this page )?(?:is |has been )?denied|request(?: has been| was)? blocked"
    r"|you have been blocked|attention required|automated (?:queries|requests)|temporarily blocked"
    r"|ip address .{0,40}block",
    re.IGNORECASE,
)
HTML_START = re.compile(r"\s*(?:\ufeff)?\s*<(?:!doctype|html|head|body|!--|title|h1|div|\?xml)", re.IGNORECASE)


def is_html_page(content_type: str, text: str) -> bool:
    """Return whether the body is a web page, and neither JSON, whatever its header claims, nor a feed."""
    if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["} or "atom+xml" in content_type.lower():
        return False
    return "html" in content_type.lower() or HTML_START.match(text) is not None


def detect_block(text: str) -> Literal["captcha", "blocked"] | None:
    """Return the kind of block page, or None for an ordinary page."""
    max_chars = 60_000  # the telltale marks are near the beginning
    beginning = text[:max_chars]
    if CAPTCHA_MARKS.search(beginning):
        return "captcha"
    return "blocked" if BLOCK_MARKS.search(beginning) else None
