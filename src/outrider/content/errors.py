"""The errors of content stores, with the codes that hosts know them by."""

from outrider.core.errors import InvalidInput, NotFound


def store_not_found(store_id: str) -> NotFound:
    """There is no such store, or it is another session's."""
    return NotFound(
        f"store_id: there is no store {store_id!r} here",
        hint="listStores shows your stores; leave store_id out for the session's own",
        code="STORE_NOT_FOUND",
    )


def content_not_found(content_id: str) -> NotFound:
    """There is no such content, or it is another session's."""
    return NotFound(
        f"content_id: there is no content {content_id!r} here",
        hint="listContent shows what a store holds",
        code="CONTENT_NOT_FOUND",
    )


def invalid_line_range(from_line: int, to_line: int | None, count: int) -> InvalidInput:
    """The range holds no line."""
    wanted = f"{from_line} to {to_line}" if to_line else f"{from_line}"
    lines = f"lines 1 to {count}" if count else "no lines"
    return InvalidInput(
        f"from_line: no lines in the range {wanted}; the content has {lines}",
        hint="from_line must not be after to_line, nor after the last line",
        code="INVALID_LINE_RANGE",
    )


def text_too_large(characters: int, most: int) -> InvalidInput:
    """The text is longer than may be kept."""
    return InvalidInput(
        f"content: has {characters:,} characters, at most {most:,} are kept",
        hint="add it in parts, or raise content.text_chars",
        code="CONTENT_TOO_LARGE",
    )
