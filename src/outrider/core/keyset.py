"""Long lists, a part at a time: each part says where the next begins, so that deep pages cost what the first costs.

The order is by a time, newest first, and by id where times are equal; nothing is shown twice or left out while rows
come and go (use-the-index-luke.com/no-offset).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, and_, or_

from outrider.core.database.database import to_storable_text
from outrider.core.errors import InvalidInput

T = TypeVar("T")


@dataclass(frozen=True)
class Batch(Generic[T]):
    """Some of a long list; `after` is where the next part begins, empty where nothing follows."""

    items: Sequence[T] = ()
    after: str = ""


def format_cursor(at: float, key: str) -> str:
    """The place behind an item, for an address: its time and its id."""
    return f"{at!r}~{key}"


def parse_cursor(text: str) -> tuple[float, str]:
    """The time and id that `mark` was given. Raises InvalidInput for anything else."""
    at, tilde, key = text.partition("~")
    try:
        if tilde and len(key) <= 200:
            return float(at), to_storable_text(key)
    except ValueError:
        pass
    raise InvalidInput("after: is no place in this list", hint="begin at its start")


def order_newest_first(
    query: "Select[Any]", at: "ColumnElement[Any]", key: "ColumnElement[Any]", after: str
) -> "Select[Any]":
    """The query in order, from the place `after` on; empty means from the start."""
    ordered = query.order_by(at.desc(), key.desc())
    if not after:
        return ordered
    time, name = parse_cursor(after)
    return ordered.where(or_(at < time, and_(at == time, key < name)))


def build_batch(
    rows: Sequence[Any], limit: int, convert: Callable[[Any], T], get_cursor: Callable[[Any], str]
) -> Batch[T]:
    """The part that `limit` + 1 rows make.

    Args:
        rows: What was found, one more than is shown if there is more.
        limit: How many are shown.
        convert: What a row becomes.
        get_cursor: The `mark` of a row.
    """
    shown = rows[:limit]
    return Batch([convert(row) for row in shown], get_cursor(shown[-1]) if len(rows) > limit else "")
