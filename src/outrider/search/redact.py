"""Keeps keys out of every text: providers like to repeat a rejected key in their error."""

from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "[key]"
WINDOW = 8  # a piece of a key this long is as telling as the key
SHORTEST = 4  # shorter values are no secrets, and would tear holes into ordinary words


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, their URL-encoded forms and any eight letters in a row of them."""
    for secret in _forms(secrets):
        text = _without(text, secret)
    return text


def _forms(secrets: Iterable[str]) -> list[str]:
    known = [secret for secret in secrets if len(secret) >= SHORTEST]
    forms = {form for secret in known for form in (secret, quote(secret, safe=""), quote_plus(secret))}
    return sorted(forms, key=lambda form: (-len(form), form))


def _without(text: str, secret: str) -> str:
    size = min(WINDOW, len(secret))
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
    return _masked(text, hidden)


def _masked(text: str, hidden: list[bool]) -> str:
    out: list[str] = []
    for letter, gone in zip(text, hidden, strict=True):
        if not gone:
            out.append(letter)
        elif not out or out[-1] != MASK:
            out.append(MASK)
    return "".join(out)
