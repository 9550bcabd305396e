"""Store playbooks; calls can only access those of their assistant."""

import hashlib
import itertools
import secrets
import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotConfigured, NotFound
from outrider.playbooks.playbook import Playbook, PlaybookRun, Workflow
from outrider.playbooks.validation import assign_step_ids, list_problems

if TYPE_CHECKING:  # SQLAlchemy is loaded when a query is made
    from outrider.core.keyset import Batch

_ID_COUNTER = itertools.count(secrets.randbelow(1_000_000))


@dataclass(frozen=True)
class PlaybookBatch:
    """One page of playbooks; `total` counts all of them."""

    items: list[Playbook]
    total: int


class PlaybookStore:
    """The playbooks of all assistants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, call: Call, workflow: Workflow) -> Playbook:
        """Store a workflow. Raises InvalidInput with all problems, NotConfigured without an assistant."""
        from outrider.playbooks.tables import playbooks

        owner, now = build_owner_key(call), time.time()
        # `<milliseconds>-<counter>` (contracts 9); processes count from different numbers.
        playbook_id = f"{now * 1_000:.0f}-{next(_ID_COUNTER)}"
        content = _validate_workflow(workflow)
        playbook = Playbook(playbook_id, call.assistant or "", content, now, now, call.workspace)
        row = {
            "id": playbook.id,
            "owner": owner,
            "workspace": call.workspace,
            "assistant": to_storable_text(playbook.assistant, 200),
            "content": content.model_dump(mode="json"),
            "created_at": now,
            "updated_at": now,
        }
        async with self._database.write() as connection:
            await connection.execute(playbooks.insert(), [row])
        return playbook

    async def list_own(self, call: Call, page: int = 1, size: int | None = None) -> PlaybookBatch:
        """Return the assistant's playbooks, newest first; `page` counts from 1, no `size` means all."""
        from sqlalchemy import func, select

        from outrider.playbooks.tables import playbooks

        is_own = playbooks.c.owner == build_owner_key(call)
        query = select(playbooks).where(is_own).order_by(playbooks.c.created_at.desc(), playbooks.c.id)
        if size is not None:
            query = query.limit(size).offset((page - 1) * size)
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(playbooks).where(is_own))).scalar_one()
            rows = (await connection.execute(query)).mappings().all()
        return PlaybookBatch([_parse_playbook(row) for row in rows], total)

    async def list_playbooks(
        self, *, text: str = "", workspace: str | None = None, after: str = "", limit: int = 50
    ) -> "Batch[Playbook]":
        """Return one batch of all assistants' playbooks for the operator, newest first.

        Args:
            text: Only with this in the assistant's name, the goal or a step, in any case.
            workspace: Only of this workspace; None means all.
            after: Cursor of the batch before; empty for the first.
            limit: Maximum number; a batch may hold fewer although more follow.

        Raises:
            InvalidInput: `after` is not a cursor.
        """
        from sqlalchemy import select

        from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first
        from outrider.playbooks.tables import playbooks as table

        scanned_rows = 500 if text else limit  # a search for something rare needs several batches
        query = order_newest_first(select(table), table.c.created_at, table.c.id, after).limit(scanned_rows + 1)
        if workspace is not None:
            query = query.where(table.c.workspace == workspace)
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).mappings())
        scanned = build_batch(
            rows, scanned_rows, _parse_playbook, lambda row: format_cursor(row["created_at"], row["id"])
        )
        # The database holds contents as JSON, so it cannot find which contain the text.
        matches = [playbook for playbook in scanned.items if playbook.contains_text(text)]
        if len(matches) <= limit:
            return Batch(matches, scanned.after)
        return Batch(matches[:limit], format_cursor(matches[limit - 1].created_at, matches[limit - 1].id))

    async def find(self, name: str) -> Playbook:
        """Return the playbook with that id, of any assistant. Raises NotFound."""
        from sqlalchemy import select

        from outrider.playbooks.tables import playbooks

        query = select(playbooks).where(playbooks.c.id == to_storable_text(name, 64))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise _build_not_found_error(name)
        return _parse_playbook(row)

    async def compute_version(self) -> tuple[int, float]:
        """Return a value that differs after every change of any playbook.

        Changes by other processes are included.
        """
        from sqlalchemy import func, select

        from outrider.playbooks.tables import playbooks

        query = select(func.count(), func.coalesce(func.max(playbooks.c.updated_at), 0.0)).select_from(playbooks)
        async with self._database.read() as connection:
            count, latest = (await connection.execute(query)).one()
        return count, latest

    async def get(self, call: Call, name: str) -> Playbook:
        """Return the playbook with that id. Raises NotFound, even if another assistant has it."""
        from sqlalchemy import select

        from outrider.playbooks.tables import playbooks

        query = select(playbooks).where(
            playbooks.c.owner == build_owner_key(call), playbooks.c.id == to_storable_text(name, 64)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise _build_not_found_error(name)
        return _parse_playbook(row)

    async def update(self, call: Call, name: str, changes: dict[str, Any]) -> Playbook:
        """Change some fields of a playbook. Raises NotFound, or InvalidInput without changing anything."""
        from outrider.playbooks.tables import playbooks

        playbook = await self.get(call, name)
        content = _validate_workflow(_merge_changes(playbook.content, changes))
        now = time.time()
        values = {"content": content.model_dump(mode="json"), "updated_at": now}
        is_selected = (playbooks.c.owner == build_owner_key(call)) & (playbooks.c.id == playbook.id)
        async with self._database.write() as connection:
            result = await connection.execute(playbooks.update().where(is_selected).values(values))
        if not result.rowcount:
            raise _build_not_found_error(name)
        return replace(playbook, content=content, updated_at=now)

    async def delete(self, call: Call, name: str) -> None:
        """Delete a playbook with its runs. Raises NotFound."""
        from outrider.playbooks.tables import playbooks

        is_selected = (playbooks.c.owner == build_owner_key(call)) & (playbooks.c.id == to_storable_text(name, 64))
        async with self._database.write() as connection:
            if not (await connection.execute(playbooks.delete().where(is_selected))).rowcount:
                raise _build_not_found_error(name)

    async def start_run(self, call: Call, playbook: Playbook) -> PlaybookRun:
        """Record that the assistant starts to follow the playbook."""
        from outrider.playbooks.tables import playbook_runs

        session = to_storable_text(call.session, 200)
        run = PlaybookRun(str(uuid.uuid4()), playbook.id, session, time.time(), None, "running", "")
        async with self._database.write() as connection:
            await connection.execute(playbook_runs.insert(), [vars(run)])
        return run

    async def finish_run(self, call: Call, run_id: str, *, succeeded: bool, notes: str) -> PlaybookRun:
        """Record the outcome, once. Raises NotFound for a run that is unknown, ended, or another assistant's."""
        from sqlalchemy import select

        from outrider.playbooks.tables import playbook_runs as runs
        from outrider.playbooks.tables import playbooks

        own_ids = select(playbooks.c.id).where(playbooks.c.owner == build_owner_key(call))
        is_open = runs.c.ended_at.is_(None) & runs.c.playbook.in_(own_ids)
        values = {
            "ended_at": time.time(),
            "outcome": "succeeded" if succeeded else "failed",
            "notes": to_storable_text(notes),
        }
        async with self._database.write() as connection:
            query = runs.update().where(runs.c.id == to_storable_text(run_id, 64), is_open)
            row = (await connection.execute(query.values(values).returning(*runs.c))).mappings().first()
        if row is None:
            hint = "select_playbook starts a run and returns its id"
            raise NotFound(f"runId: no open run {run_id[:64]!r}", hint=hint, code="run_not_found")
        return PlaybookRun(**row)

    async def list_runs(self, playbook: Playbook) -> list[PlaybookRun]:
        """Return the latest 20 runs of the playbook, newest first."""
        from sqlalchemy import select

        from outrider.playbooks.tables import playbook_runs as runs

        query = select(runs).where(runs.c.playbook == playbook.id).order_by(runs.c.started_at.desc()).limit(20)
        async with self._database.read() as connection:
            return [PlaybookRun(**row) for row in (await connection.execute(query)).mappings()]


def build_owner_key(call: Call) -> str:
    """Return the key of an assistant in its workspace. Raises NotConfigured if the host names none."""
    if not call.assistant:
        raise NotConfigured(
            "playbooks belong to an assistant, and this call names none",
            code="context_missing",
            hint="start outrider with --assistant NAME, or send `assistant_id` in the call's _meta",
        )
    return hashlib.sha256(f"{call.workspace or ''}\x1f{call.assistant}".encode("utf-8", "replace")).hexdigest()


def _validate_workflow(workflow: Workflow) -> Workflow:
    problems = list_problems(workflow)
    if problems:
        raise InvalidInput("; ".join(problems), hint="correct these and call again", details={"problems": problems})
    return assign_step_ids(workflow)


def _merge_changes(content: Workflow, changes: dict[str, Any]) -> Workflow:
    try:
        return Workflow.model_validate(content.model_dump() | changes)
    except ValidationError as error:
        errors = error.errors()
    problems = []
    for problem in errors:
        reason = "no such field" if problem["type"] == "extra_forbidden" else problem["msg"]
        if problem["loc"] in {("id",), ("agentId",), ("createdAt",), ("updatedAt",)}:
            reason = "cannot be changed"
        problems.append(f"playbook.{'.'.join(map(str, problem['loc']))}: {reason}")
    raise InvalidInput("; ".join(problems), hint="correct these and call again")


def _parse_playbook(row: Any) -> Playbook:
    content = Workflow.model_validate(row["content"])
    return Playbook(row["id"], row["assistant"], content, row["created_at"], row["updated_at"], row["workspace"])


def _build_not_found_error(name: str) -> NotFound:
    return NotFound(f"id: no playbook {name[:64]!r}", hint="list_playbooks shows yours", code="playbook_not_found")
