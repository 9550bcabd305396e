"""What is asked of the rows of stores. Each function takes the open connection."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from outrider.content.models import ContentRecord, Store
from outrider.core.database.database import to_storable_text

if TYPE_CHECKING:
    from sqlalchemy import Connection


def load_stores(
    connection: "Connection",
    own: str,
    *,
    store_id: str | None = None,
    default: bool = False,
    offset: int = 0,
    limit: int = 1,
) -> list[Store]:
    """Stores of a scope with their figures, newest first: the default one, the one of that id, or a page of all."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    query = select(table).where(table.c.scope == own).order_by(table.c.created_at.desc(), table.c.id)
    if default:
        query = query.where(table.c.default_of == own)
    elif store_id is not None:
        query = query.where(table.c.id == store_id)
    return build_stores(connection, connection.execute(query.offset(offset).limit(limit)).all())


def build_stores(connection: "Connection", rows: Sequence[Any]) -> list[Store]:
    """The stores of these rows, with how much they hold."""
    from sqlalchemy import func, select

    from outrider.content.tables import contents

    figures = (func.count(), func.sum(contents.c.chunk_count), func.sum(contents.c.size))
    counted = select(contents.c.store_id, *figures).where(contents.c.store_id.in_([row.id for row in rows]))
    numbers = {each[0]: each[1:] for each in connection.execute(counted.group_by(contents.c.store_id))}
    return [_store(row, numbers.get(row.id, (0, 0, 0))) for row in rows]


def find_store_id(connection: "Connection", own: str, store_id: str | None) -> str | None:
    """The id of that store of a scope, or of its default one: without the figures, which take longer."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    which = table.c.default_of == own if store_id is None else table.c.id == store_id
    return connection.execute(select(table.c.id).where(which, table.c.scope == own)).scalar()


def build_watermark_query(own: str | None, wanted: Sequence[str] | None) -> tuple[Any, dict[str, Any]]:
    """What asks how far stores are, and in which languages their texts: the statement and its values.

    Args:
        own: The scope that they are in; None for any.
        wanted: Their ids; None for all of the scope.
    """
    given = ({} if own is None else {"own": own}) | ({} if wanted is None and own else {"wanted": list(wanted or ())})
    return _build_watermark_select(tuple(given)), given


@lru_cache(maxsize=3)
def _build_watermark_select(given: tuple[str, ...]) -> Any:
    """Built once, which takes longer than asking."""
    from sqlalchemy import bindparam, select

    from outrider.content.tables import content_stores as table

    query = select(table.c.id, table.c.languages, table.c.generation, table.c.stamp)
    if "own" in given:
        query = query.where(table.c.scope == bindparam("own"))
    return query.where(table.c.id.in_(bindparam("wanted", expanding=True))) if "wanted" in given else query


def load_records(connection: "Connection", ids: Sequence[str], own: str | None = None) -> dict[str, ContentRecord]:
    """Contents by id; with `own` only those in stores of that scope."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores, contents

    query = select(contents).where(contents.c.id.in_(ids))
    query = query.join(content_stores, content_stores.c.id == contents.c.store_id)
    if own is not None:
        query = query.where(content_stores.c.scope == own)
    return {row.id: build_record(row) for row in connection.execute(query)}


def load_record_page(connection: "Connection", store: str, offset: int, limit: int) -> tuple[list[ContentRecord], int]:
    """Contents of a store, newest first, and how many there are in all."""
    from sqlalchemy import func, select

    from outrider.content.tables import contents as table

    total = connection.execute(select(func.count()).where(table.c.store_id == store)).scalar_one()
    query = select(table).where(table.c.store_id == store)
    query = query.order_by(table.c.uploaded_at.desc(), table.c.generation.desc(), table.c.id)
    return [build_record(row) for row in connection.execute(query.offset(offset).limit(limit))], total


def find_by_source(connection: "Connection", store: str, source: str) -> ContentRecord | None:
    """The content of a store that came from there; None also for an empty source."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    if not source:
        return None
    query = select(table).where(table.c.source == to_storable_text(source, 8_000), table.c.store_id == store)
    row = connection.execute(query.limit(1)).first()
    return build_record(row) if row else None


def load_covering_chunks(connection: "Connection", content: str, first: int, last: int) -> list[Any]:
    """The chunks in which these lines lie."""
    from sqlalchemy import select

    from outrider.content.tables import content_chunks as table

    query = select(table).where(table.c.content_id == content, table.c.to_line >= first, table.c.from_line <= last)
    return list(connection.execute(query.order_by(table.c.number)))


def _store(row: Any, figures: Sequence[int]) -> Store:
    facts = (row.id, row.name, row.description, row.created_at, row.modified_at)
    return Store(*facts, *map(int, figures), is_default=row.default_of is not None)


def build_record(row: Any) -> ContentRecord:
    """The content of a row."""
    return ContentRecord(**{name: getattr(row, name) for name in ContentRecord.__dataclass_fields__})
