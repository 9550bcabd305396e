"""Store an ended run's notices and a picture of its page.

It loads SQLAlchemy.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from outrider.core.database.database import Database
from outrider.core.notices.notice_queue import WAITING
from outrider.flows.run import RunPicture
from outrider.flows.tables import flow_notices, flow_run_pictures


def write_ending(
    connection: Connection, database: Database, run_id: str, notices: Sequence[str], picture: RunPicture | None
) -> None:
    """Insert notices by name, and replace the picture of a run."""
    now, pictures = database.now(), flow_run_pictures
    if notices:
        rows = [{**WAITING, "run_id": run_id, "name": name, "next_at": now} for name in notices]
        connection.execute(database.build_insert(flow_notices).on_conflict_do_nothing(), rows)
    connection.execute(pictures.delete().where(pictures.c.run_id == run_id))
    if picture is None:
        return
    row = {"run_id": run_id, "taken_at": now, "mime_type": picture.mime_type, "data": picture.data}
    connection.execute(pictures.insert(), [row])
    max_pictures = 100
    oldest = select(pictures.c.run_id).order_by(pictures.c.taken_at.desc(), pictures.c.run_id).offset(max_pictures)
    # With a limit, because SQLite has no offset without one.
    connection.execute(pictures.delete().where(pictures.c.run_id.in_(oldest.limit(max_pictures))))
