"""Database queries on content stores. Each function takes an open connection."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from outrider.content.models import ContentRecord, Store
from outrider.core.database.database import to_storable_text

if TYPE_CHECKING:
    from sqlalchemy import Connection


def load_stores(
    connection: "Connection",
    scope: str,
    *,
    store_id: str | None = None,
    default: bool = False,
    offset: int = 0,
    limit: int = 1,
) -> list[Store]:
    """Return stores of a scope with their totals, newest first: the default one, one by id, or a page of all."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    query = select(table).where(table.c.scope == scope).order_by(table.c.created_at.desc(), table.c.id)
    if default:
        query = query.where(table.c.default_of == scope)
    elif store_id is not None:
        query = query.where(table.c.id == store_id)
    return build_stores(connection, connection.execute(query.offset(offset).limit(limit)).all())


def build_stores(connection: "Connection", rows: Sequence[Any]) -> list[Store]:
    """Return the stores of these rows with their totals."""
    from sqlalchemy import func, select

    from outrider.content.tables import contents

    sums = (func.count(), func.sum(contents.c.chunk_count), func.sum(contents.c.size))
    query = select(contents.c.store_id, *sums).where(contents.c.store_id.in_([row.id for row in rows]))
    totals = {total[0]: total[1:] for total in connection.execute(query.group_by(contents.c.store_id))}
    stores: list[Store] = []
    for row in rows:
        columns = (row.id, row.name, row.description, row.created_at, row.modified_at)
        counts = map(int, totals.get(row.id, (0, 0, 0)))
        stores.append(Store(*columns, *counts, is_default=row.default_of is not None))
    return stores


def find_store_id(connection: "Connection", scope: str, store_id: str | None) -> str | None:
    """Return the id of a store of a scope, or of its default store; faster than `load_stores`, which sums totals."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores as table

    condition = table.c.default_of == scope if store_id is None else table.c.id == store_id
    return connection.execute(select(table.c.id).where(condition, table.c.scope == scope)).scalar()


def build_watermark_query(scope: str | None, store_ids: Sequence[str] | None) -> tuple[Any, dict[str, Any]]:
    """Return the statement for watermarks and languages of stores, and its parameters.

    Args:
        scope: The scope of the stores; None for any.
        store_ids: Ids of the stores; None for all of the scope.
    """
    parameters: dict[str, Any] = {} if scope is None else {"scope": scope}
    if store_ids is not None or not scope:
        parameters["store_ids"] = list(store_ids or ())
    return _build_watermark_select(tuple(parameters)), parameters


@lru_cache(maxsize=3)
def _build_watermark_select(parameters: tuple[str, ...]) -> Any:
    """Build the statement once per set of parameters, because building takes longer than running it."""
    from sqlalchemy import bindparam, select

    from outrider.content.tables import content_stores as table

    query = select(table.c.id, table.c.languages, table.c.generation, table.c.stamp)
    if "scope" in parameters:
        query = query.where(table.c.scope == bindparam("scope"))
    return query.where(table.c.id.in_(bindparam("store_ids", expanding=True))) if "store_ids" in parameters else query


def load_records(connection: "Connection", ids: Sequence[str], scope: str | None = None) -> dict[str, ContentRecord]:
    """Return contents by id; with `scope` only those in stores of that scope."""
    from sqlalchemy import select

    from outrider.content.tables import content_stores, contents

    query = select(contents).where(contents.c.id.in_(ids))
    query = query.join(content_stores, content_stores.c.id == contents.c.store_id)
    if scope is not None:
        query = query.where(content_stores.c.scope == scope)
    return {row.id: build_record(row) for row in connection.execute(query)}


def load_record_page(connection: "Connection", store: str, offset: int, limit: int) -> tuple[list[ContentRecord], int]:
    """Return a page of contents, newest first, and the total count."""
    from sqlalchemy import func, select

    from outrider.content.tables import contents as table

    total = connection.execute(select(func.count()).where(table.c.store_id == store)).scalar_one()
    query = select(table).where(table.c.store_id == store)
    query = query.order_by(table.c.uploaded_at.desc(), table.c.generation.desc(), table.c.id)
    return [build_record(row) for row in connection.execute(query.offset(offset).limit(limit))], total


def find_by_source(connection: "Connection", store: str, source: str) -> ContentRecord | None:
    """Return the content of a store with this source; None if the source is empty or unknown."""
    from sqlalchemy import select

    from outrider.content.tables import contents as table

    if not source:
        return None
    query = select(table).where(table.c.source == to_storable_text(source, 8_000), table.c.store_id == store)
    row = connection.execute(query.limit(1)).first()
    return build_record(row) if row else None


def load_covering_chunks(connection: "Connection", content: str, first: int, last: int) -> list[Any]:
    """Return the chunks that cover a range of lines."""
    from sqlalchemy import select

    from outrider.content.tables import content_chunks as table

    query = select(table).where(table.c.content_id == content, table.c.to_line >= first, table.c.from_line <= last)
    return list(connection.execute(query.order_by(table.c.number)))


def load_original(connection: "Connection", content: str) -> bytes | None:
    """Return the stored file of a content; None if its text equals the file, or if there was no file."""
    from sqlalchemy import select

    from outrider.content.tables import content_originals as table

    return connection.execute(select(table.c.body).where(table.c.content_id == content)).scalar()


def build_record(row: Any) -> ContentRecord:
    """Return the record of a row of `contents`."""
    return ContentRecord(**{name: getattr(row, name) for name in ContentRecord.__dataclass_fields__})
