"""Remove credentials and queries from logged addresses and messages."""

import re
from urllib.parse import urlsplit, urlunsplit

MAX_RAW_MESSAGE_CHARS = 8_000  # the rest is dropped before cleaning
URL_PATTERN = re.compile(r"""\b(?:https?|wss?)://[^\s"'<>)\]}]+""")
# Credentials as they are commonly written: named values, bearer tokens, JSON Web Tokens, well-known prefixes.
SECRET_PATTERNS = (
    re.compile(
        r"(?i)(\b[\w-]*(?:password|passwd|secret|token|api[_-]?key|apikey|authorization|cookie|session[_-]?id)\b"
        r"""["']?\s*[:=]\s*["']?(?:bearer |basic )?)[^\s"',;&}]+"""
    ),
    re.compile(r"(?i)\b((?:bearer|basic) )[A-Za-z0-9+/=._~-]{8,}"),
    re.compile(r"()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"),
    re.compile(r"()\b(?:sk|pk|ghp|gho|ghs|xox[abp]|AKIA)[-_]?[A-Za-z0-9_-]{14,}"),
)


def clean_url(url: str) -> str:
    """Return an address without user, query and fragment, at most 1,000 characters."""
    max_chars = 1_000
    if url.startswith("data:"):
        return url.partition(",")[0][:100]
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("?")[0].partition("#")[0][:max_chars]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))[:max_chars]


def clean_message(text: str) -> str:
    """Return a message without the queries of its addresses and without credentials, at most 2,000 characters."""
    max_chars = 2_000
    text = URL_PATTERN.sub(lambda match: clean_url(match[0]), text[:MAX_RAW_MESSAGE_CHARS])
    for secret in SECRET_PATTERNS:
        text = secret.sub(r"\1[removed]", text)
    return text[:max_chars]
