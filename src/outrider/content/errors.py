"""Errors of content stores, with their stable codes."""

from outrider.core.errors import InvalidInput, NotFound


def store_not_found(store_id: str) -> NotFound:
    """Build the error for a store that does not exist or belongs to another session."""
    return NotFound(
        f"store_id: store {store_id!r} does not exist",
        hint="call listStores, or omit store_id to use the session's default store",
        code="STORE_NOT_FOUND",
    )


def content_not_found(content_id: str) -> NotFound:
    """Build the error for a content that does not exist or belongs to another session."""
    return NotFound(
        f"content_id: content {content_id!r} does not exist",
        hint="call listContent to see the ids in a store",
        code="CONTENT_NOT_FOUND",
    )


def invalid_line_range(from_line: int, to_line: int | None, count: int) -> InvalidInput:
    """Build the error for a line range that selects nothing."""
    requested = f"{from_line} to {to_line}" if to_line else f"{from_line}"
    lines = f"lines 1 to {count}" if count else "no lines"
    return InvalidInput(
        f"from_line: the range {requested} selects no lines; the content has {lines}",
        hint="choose from_line no greater than to_line and the last line",
        code="INVALID_LINE_RANGE",
    )


def text_too_large(characters: int, limit: int) -> InvalidInput:
    """Build the error for a text that is too long."""
    return InvalidInput(
        f"content: {characters:,} characters exceed the limit of {limit:,}",
        hint="split the text",
        code="CONTENT_TOO_LARGE",
    )
