"""Sanitize untrusted names for display and for file systems."""

from urllib.parse import quote

from outrider.browser.page.file_names import make_safe_name
from outrider.core.untrusted import clean_untrusted

MAX_LABEL_CHARS = 160  # characters of a name in a list


def format_label(text: str | None, default: str = "", limit: int = MAX_LABEL_CHARS) -> str:
    """Return the name on one line, without invisible or bidirectional characters, cut to length."""
    line = " ".join(clean_untrusted((text or "")[: limit * 8]).split())
    return (line if len(line) <= limit else f"{line[: limit - 1]}…") or default


def build_content_disposition(name: str, *, inline: bool = False) -> str:
    """Return the header that names a download (RFC 6266, appendix D)."""
    full = make_safe_name(clean_untrusted(name), "file")
    plain = "".join(letter if letter.isascii() and letter not in '"\\%' else "_" for letter in full)
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(full, safe='')}"
