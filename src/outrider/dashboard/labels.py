"""Names that others chose: as a person may read them, and as a file system may take them."""

from urllib.parse import quote

from outrider.browser.page.file_names import make_safe_name
from outrider.core.untrusted import clean_untrusted

MAX_LABEL_CHARS = 160  # characters of a name in a list


def format_label(text: str | None, default: str = "", limit: int = MAX_LABEL_CHARS) -> str:
    """The name on one line, without what is invisible or turns the direction of reading, cut where it is too long."""
    line = " ".join(clean_untrusted((text or "")[: limit * 8]).split())
    return (line if len(line) <= limit else f"{line[: limit - 1]}…") or default


def build_content_disposition(name: str, *, inline: bool = False) -> str:
    """The header that names a file for saving: in ASCII for the oldest, in full for the rest (RFC 6266, appendix D)."""
    full = make_safe_name(clean_untrusted(name), "file")
    plain = "".join(letter if letter.isascii() and letter not in '"\\%' else "_" for letter in full)
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(full, safe='')}"
