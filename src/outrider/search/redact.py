"""Remove API keys from texts, because providers repeat a rejected key in their error."""

from collections.abc import Iterable
from urllib.parse import quote, quote_plus


def redact_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the secrets, their URL-encoded forms and any eight consecutive letters of them."""
    min_secret_chars = 4  # shorter values are not secrets, and would tear holes into ordinary words
    known = [secret for secret in secrets if len(secret) >= min_secret_chars]
    forms = {form for secret in known for form in (secret, quote(secret, safe=""), quote_plus(secret))}
    for secret in sorted(forms, key=lambda form: (-len(form), form)):
        text = _mask_secret(text, secret)
    return text


def _mask_secret(text: str, secret: str) -> str:
    window_chars = 8  # a piece of a key this long gives away as much as the key
    size = min(window_chars, len(secret))
    lowered, secret = text.lower(), secret.lower()
    if len(lowered) != len(text):  # a letter whose lower case is longer; positions would not fit
        lowered = text
    pieces = {secret[start : start + size] for start in range(len(secret) - size + 1)}
    if not any(piece in lowered for piece in pieces):
        return text
    is_hidden = [False] * len(text)
    for start in range(len(lowered) - size + 1):
        if lowered[start : start + size] in pieces:
            is_hidden[start : start + size] = [True] * size
    masked: list[str] = []
    for letter, hidden in zip(text, is_hidden, strict=True):
        if not hidden:
            masked.append(letter)
        elif not masked or masked[-1] != "[key]":
            masked.append("[key]")
    return "".join(masked)
