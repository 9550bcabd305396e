"""Keep errors short enough for a model's context, whatever they quote."""

from outrider.core.errors import OutriderError
from outrider.core.text import count_tokens

MAX_ERROR_TOKENS = 120  # of message and hint together


def shorten_error(error: OutriderError, max_tokens: int = MAX_ERROR_TOKENS) -> OutriderError:
    """Cut the middle out of a long message, and of its hint, in place; their beginnings and ends say most."""
    min_hint_tokens = 60  # however long the message is
    max_counted_chars = 10_000  # longer messages are too long in any language
    min_bytes_per_token = 2  # shorter errors, which most are, need no tokenizer
    size = len(f"{error.message}{error.hint}".encode("utf-8", "replace"))
    if size < min_bytes_per_token * max_tokens:
        return error
    if len(error.message) > max_counted_chars or count_tokens(f"{error.message}\n{error.hint}") > max_tokens:
        message_tokens = count_tokens(error.message[:max_counted_chars])
        error.hint = shorten_middle(error.hint, max(min_hint_tokens, max_tokens - 2 - message_tokens))
        error.message = shorten_middle(error.message, max_tokens - 2 - count_tokens(error.hint))
    return error


def shorten_middle(text: str, max_tokens: int) -> str:
    """Return a text of at most so many tokens, its middle replaced by `…`."""
    max_chars = 8 * max_tokens
    shown = text if len(text) <= max_chars else f"{text[: max_chars // 2]}…{text[-max_chars // 2 :]}"
    while count_tokens(shown) > max_tokens:
        head, tail = max_chars * 2 // 3, max_chars // 3
        shown = f"{text[:head]}…{text[-tail:]}" if len(text) > max_chars else text
        max_chars = max_chars * 9 // 10
    return shown
