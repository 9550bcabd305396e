"""Remove credentials and queries from logged addresses and messages."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

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
SECRET_NAME_PATTERN = re.compile(
    r"(?i)passw|secret|token|api[_-]?key|auth(?!ors?$)|cookie|session|credential|signature|csrf|xsrf|jwt|otp"
    r"|^(?:sid|sig|pin|pwd|cvv)$"
)
QUERY_SECRET_PATTERN = re.compile(r"""(?i)([?&][\w.\[\]-]*(?:key|code|sig|auth|sid)[\]]?=)[^&\s"'<>]+""")
# In queries also the parameters of OAuth redirects.
SECRET_PARAMETERS = frozenset({"code", "key", "state", "nonce", "assertion"})
# A random text of letters and digits, but not a UUID, which is mostly an identifier.
RANDOM_TEXT_PATTERN = re.compile(
    r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])(?![0-9a-f]{8}-(?:[0-9a-f]{4}-){3})[\w+/=.~-]{32,}"
)
REMOVED = "[removed]"


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
    """Return a message without queries of addresses and without credentials.

    It has at most 2,000 characters.
    """
    max_chars = 2_000
    text = URL_PATTERN.sub(lambda match: clean_url(match[0]), text[:MAX_RAW_MESSAGE_CHARS])
    for secret in SECRET_PATTERNS:
        text = secret.sub(r"\1[removed]", text)
    return text[:max_chars]


def redact_url(url: str) -> str:
    """Return an address with its query, but without user, fragment and possible credentials."""
    max_chars = 2_000
    try:
        parts = urlsplit(url)
    except ValueError:
        return clean_url(url)
    path = "/".join(REMOVED if RANDOM_TEXT_PATTERN.fullmatch(segment) else segment for segment in parts.path.split("/"))
    query = _redact_form(parts.query, more_names=SECRET_PARAMETERS)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, query, ""))[:max_chars]


def record_url(url: str) -> str:
    """Return a redacted address that keeps an application's route.

    It is `redact_url` with a fragment that is such a route.
    """
    address, mark, fragment = url.partition("#")
    is_route = "=" not in fragment and not RANDOM_TEXT_PATTERN.search(fragment)
    return redact_url(address) + (mark + fragment if is_route else "")


def is_secret_name(name: str) -> bool:
    """Return whether a field, header or cookie of that name usually holds a credential."""
    return SECRET_NAME_PATTERN.search(name) is not None


def redact_header(name: str, value: str) -> str:
    """Return a header's value, or a mark if it may be a credential."""
    is_policy = name.lower().startswith("access-control-") or name.lower() == "www-authenticate"
    if is_secret_name(name) and not is_policy:
        return REMOVED
    if value.startswith("/"):
        return redact_url(value)
    return _redact_text(URL_PATTERN.sub(lambda match: redact_url(match[0]), value))


def redact_body(text: str, mime_type: str) -> str:
    """Return a body with the values of secret fields removed: by name in JSON and forms, else by pattern."""
    if "x-www-form-urlencoded" in mime_type:
        return _redact_form(text)
    if "json" in mime_type or text.lstrip().startswith(("{", "[")):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return _redact_text(text)
        redacted = _redact_value(value)
        return text if redacted == value else json.dumps(redacted, ensure_ascii=False)
    return _redact_text(text)


def _redact_text(text: str) -> str:
    text = QUERY_SECRET_PATTERN.sub(rf"\1{REMOVED}", text)
    for secret in SECRET_PATTERNS:
        text = secret.sub(rf"\1{REMOVED}", text)
    return text


def _redact_form(text: str, more_names: frozenset[str] = frozenset()) -> str:
    """Return a query or form unchanged except for the values of secret fields."""

    def is_secret(name: str, value: str) -> bool:
        is_named_so = is_secret_name(name) or name.lower() in more_names
        return bool(value) and (is_named_so or RANDOM_TEXT_PATTERN.fullmatch(value) is not None)

    pairs = parse_qsl(text, keep_blank_values=True)
    if not any(is_secret(name, value) for name, value in pairs):
        return text
    redacted = [(name, REMOVED if is_secret(name, value) else value) for name, value in pairs]
    return urlencode(redacted, safe="[]/:,@")


def _redact_value(value: Any) -> Any:
    if isinstance(value, dict):
        secret = {name for name, item in value.items() if item and isinstance(item, str) and is_secret_name(name)}
        return {name: REMOVED if name in secret else _redact_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_redact_value(item) for item in value]
    return _redact_text(value) if isinstance(value, str) else value
