"""Keeps keys out of every text: providers like to repeat a rejected key in their error."""

from collections.abc import Iterable
from urllib.parse import quote, quote_plus

KEY_MASK = "[key]"


def redact_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, their URL-encoded forms and any eight letters in a row of them."""
    for secret in _forms(secrets):
        text = _mask_secret(text, secret)
    return text


def _forms(secrets: Iterable[str]) -> list[str]:
    min_secret_chars = 4  # shorter values are no secrets, and would tear holes into ordinary words
    known = [secret for secret in secrets if len(secret) >= min_secret_chars]
    forms = {form for secret in known for form in (secret, quote(secret, safe=""), quote_plus(secret))}
    return sorted(forms, key=lambda form: (-len(form), form))


def _mask_secret(text: str, secret: str) -> str:
    window_chars = 8  # a piece of a key this long is as telling as the key
    size = min(window_chars, len(secret))
    low, secret = text.lower(), secret.lower()
    if len(low) != len(text):  # a letter whose lower case is longer; positions would not fit
        low = text
    pieces = {secret[at : at + size] for at in range(len(secret) - size + 1)}
    if not any(piece in low for piece in pieces):
        return text
    hidden = [False] * len(text)
    for at in range(len(low) - size + 1):
        if low[at : at + size] in pieces:
            hidden[at : at + size] = [True] * size
    return _build_masked_text(text, hidden)


def _build_masked_text(text: str, hidden: list[bool]) -> str:
    out: list[str] = []
    for letter, gone in zip(text, hidden, strict=True):
        if not gone:
            out.append(letter)
        elif not out or out[-1] != KEY_MASK:
            out.append(KEY_MASK)
    return "".join(out)
