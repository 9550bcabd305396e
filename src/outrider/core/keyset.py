"""Keyset pagination: read long lists in batches, each with a cursor to the next.

The order is by time, newest first, then by id. Late batches cost as much as the first, and nothing is repeated or
skipped while rows are added and removed (use-the-index-luke.com/no-offset).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, and_, or_

from outrider.core.database.database import to_storable_text
from outrider.core.errors import InvalidInput

RowT = TypeVar("RowT")


@dataclass(frozen=True)
class Batch(Generic[RowT]):
    """A part of a long list; `after` is the cursor of the next part, empty at the end."""

    items: Sequence[RowT] = ()
    after: str = ""


def format_cursor(at: float, key: str) -> str:
    """Return the cursor after an item, for use in a URL.

    It consists of the item's time and id.
    """
    return f"{at!r}~{key}"


def parse_cursor(text: str) -> tuple[float, str]:
    """Return the time and id of a cursor. Raises InvalidInput for any other text."""
    at, tilde, key = text.partition("~")
    try:
        if tilde and len(key) <= 200:
            return float(at), to_storable_text(key)
    except ValueError:
        pass
    raise InvalidInput("after: is not a cursor of this list", hint="start without it")


def order_newest_first(query: Select[Any], at: ColumnElement[Any], key: ColumnElement[Any], after: str) -> Select[Any]:
    """Return the query in order, starting after the cursor; an empty cursor means from the start."""
    ordered = query.order_by(at.desc(), key.desc())
    if not after:
        return ordered
    last_at, last_key = parse_cursor(after)
    return ordered.where(or_(at < last_at, and_(at == last_at, key < last_key)))


def build_batch(
    rows: Sequence[Any], limit: int, convert: Callable[[Any], RowT], get_cursor: Callable[[Any], str]
) -> Batch[RowT]:
    """Return the batch of a query for `limit` + 1 rows.

    Args:
        rows: The rows; the last one only shows that more follow.
        limit: Maximum number of items.
        convert: Makes an item of a row.
        get_cursor: Returns the cursor of a row.
    """
    batch = rows[:limit]
    return Batch([convert(row) for row in batch], get_cursor(batch[-1]) if len(rows) > limit else "")
