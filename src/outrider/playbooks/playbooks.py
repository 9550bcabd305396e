"""Where playbooks are kept. Every operation sees those of the call's assistant and no others."""

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

if TYPE_CHECKING:
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
        """Keeps a workflow. Raises InvalidInput with all problems, NotConfigured without an assistant."""
        from outrider.playbooks.tables import playbooks

        key, now = build_owner_key(call), time.time()
        kept = Playbook(_new_id(now), call.assistant or "", _validate_workflow(workflow), now, now, call.workspace)
        row = {
            "id": kept.id,
            "owner": key,
            "workspace": call.workspace,
            "assistant": to_storable_text(kept.assistant, 200),
            "content": kept.content.model_dump(mode="json"),
            "created_at": now,
            "updated_at": now,
        }
        async with self._database.write() as connection:
            await connection.execute(playbooks.insert(), [row])
        return kept

    async def list_own(self, call: Call, page: int = 1, size: int | None = None) -> PlaybookBatch:
        """The assistant's playbooks, newest first; `page` counts from 1, no `size` means all."""
        from sqlalchemy import func, select

        from outrider.playbooks.tables import playbooks

        mine = playbooks.c.owner == build_owner_key(call)
        query = select(playbooks).where(mine).order_by(playbooks.c.created_at.desc(), playbooks.c.id)
        if size is not None:
            query = query.limit(size).offset((page - 1) * size)
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(playbooks).where(mine))).scalar_one()
            rows = (await connection.execute(query)).mappings().all()
        return PlaybookBatch([_parse_playbook(row) for row in rows], total)

    async def list_playbooks(
        self, *, text: str = "", workspace: str | None = None, after: str = "", limit: int = 50
    ) -> "Batch[Playbook]":
        """The playbooks of all assistants, for the person who runs the house: the newest first, a part at a time.

        Args:
            text: Only with this in the assistant's name, the goal or a step, whatever its case.
            workspace: Only of this one; None means all.
            after: Where the part begins, from the part before.
            limit: How many at most; there may be fewer though more follow.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        max_scanned_rows = 500  # playbooks for one part of a searched list; who searches for what is rare reads on
        from sqlalchemy import select

        from outrider.core.keyset import Batch, build_batch, format_cursor, order_newest_first
        from outrider.playbooks.tables import playbooks as table

        many = max_scanned_rows if text else limit
        query = order_newest_first(select(table), table.c.created_at, table.c.id, after).limit(many + 1)
        if workspace is not None:
            query = query.where(table.c.workspace == workspace)
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).mappings())
        part = build_batch(rows, many, _parse_playbook, lambda row: format_cursor(row["created_at"], row["id"]))
        found = [each for each in part.items if _contains_text(each, text)]
        if len(found) <= limit:
            return Batch(found, part.after)
        return Batch(found[:limit], format_cursor(found[limit - 1].created_at, found[limit - 1].id))

    async def find(self, name: str) -> Playbook:
        """The playbook of that id, whosever it is. Raises NotFound."""
        from sqlalchemy import select

        from outrider.playbooks.tables import playbooks

        query = select(playbooks).where(playbooks.c.id == to_storable_text(name, 64))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise _build_not_found_error(name)
        return _parse_playbook(row)

    async def compute_version(self) -> tuple[int, float]:
        """Another whenever a playbook of whomever has come, changed or gone, in this process or another."""
        from sqlalchemy import func, select

        from outrider.playbooks.tables import playbooks

        query = select(func.count(), func.coalesce(func.max(playbooks.c.updated_at), 0.0)).select_from(playbooks)
        async with self._database.read() as connection:
            count, latest = (await connection.execute(query)).one()
        return count, latest

    async def get(self, call: Call, name: str) -> Playbook:
        """The playbook of that id. Raises NotFound, also for another assistant's."""
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
        """With other values for some of its fields. Raises NotFound, InvalidInput; then nothing changes."""
        from outrider.playbooks.tables import playbooks

        kept = await self.get(call, name)
        content = _validate_workflow(_merge_changes(kept.content, changes))
        now = time.time()
        values = {"content": content.model_dump(mode="json"), "updated_at": now}
        mine = (playbooks.c.owner == build_owner_key(call)) & (playbooks.c.id == kept.id)
        async with self._database.write() as connection:
            found = await connection.execute(playbooks.update().where(mine).values(values))
        if not found.rowcount:
            raise _build_not_found_error(name)
        return replace(kept, content=content, updated_at=now)

    async def delete(self, call: Call, name: str) -> None:
        """Removes a playbook with its runs. Raises NotFound."""
        from outrider.playbooks.tables import playbooks

        mine = (playbooks.c.owner == build_owner_key(call)) & (playbooks.c.id == to_storable_text(name, 64))
        async with self._database.write() as connection:
            if not (await connection.execute(playbooks.delete().where(mine))).rowcount:
                raise _build_not_found_error(name)

    async def start_run(self, call: Call, playbook: Playbook) -> PlaybookRun:
        """Records that the playbook is being followed."""
        from outrider.playbooks.tables import playbook_runs

        session = to_storable_text(call.session, 200)
        run = PlaybookRun(str(uuid.uuid4()), playbook.id, session, time.time(), None, "running", "")
        async with self._database.write() as connection:
            await connection.execute(playbook_runs.insert(), [vars(run)])
        return run

    async def finish_run(self, call: Call, run_id: str, *, succeeded: bool, notes: str) -> PlaybookRun:
        """Records how it went; once. Raises NotFound for a run that is unknown, ended, or another assistant's."""
        from sqlalchemy import select

        from outrider.playbooks.tables import playbook_runs as runs
        from outrider.playbooks.tables import playbooks

        mine = select(playbooks.c.id).where(playbooks.c.owner == build_owner_key(call))
        open_one = (runs.c.id == to_storable_text(run_id, 64)) & runs.c.ended_at.is_(None) & runs.c.playbook.in_(mine)
        values = {
            "ended_at": time.time(),
            "outcome": "succeeded" if succeeded else "failed",
            "notes": to_storable_text(notes),
        }
        async with self._database.write() as connection:
            query = runs.update().where(open_one).values(values).returning(*runs.c)
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            hint = "select_playbook begins one and names it"
            raise NotFound(f"runId: no open run {run_id[:64]!r}", hint=hint, code="run_not_found")
        return PlaybookRun(**row)

    async def list_runs(self, playbook: Playbook) -> list[PlaybookRun]:
        """The latest times that it was followed, newest first."""
        max_runs = 20  # of one playbook that are shown
        from sqlalchemy import select

        from outrider.playbooks.tables import playbook_runs as runs

        query = select(runs).where(runs.c.playbook == playbook.id).order_by(runs.c.started_at.desc()).limit(max_runs)
        async with self._database.read() as connection:
            return [PlaybookRun(**row) for row in (await connection.execute(query)).mappings()]


def _new_id(now: float) -> str:
    """`<milliseconds>-<counter>` (contracts 9); processes count from different numbers."""
    return f"{now * 1_000:.0f}-{next(_ID_COUNTER)}"


def build_owner_key(call: Call) -> str:
    """The key of an assistant within its workspace. Raises NotConfigured where the host names none."""
    if not call.assistant:
        raise NotConfigured(
            "playbooks belong to an assistant, and this call names none",
            code="context_missing",
            hint="the host sends `assistant_id` in the call's _meta, or is started with --assistant NAME",
        )
    return hashlib.sha256(f"{call.workspace or ''}\x1f{call.assistant}".encode("utf-8", "replace")).hexdigest()


def _validate_workflow(workflow: Workflow) -> Workflow:
    found = list_problems(workflow)
    if found:
        raise InvalidInput("; ".join(found), hint="correct these and call again", details={"problems": found})
    return assign_step_ids(workflow)


def _merge_changes(content: Workflow, changes: dict[str, Any]) -> Workflow:
    try:
        return Workflow.model_validate(content.model_dump() | changes)
    except ValidationError as error:
        found = [f"playbook.{'.'.join(map(str, each['loc']))}: {_wrong(each)}" for each in error.errors()]
        raise InvalidInput("; ".join(found), hint="correct these and call again") from None


def _wrong(error: Any) -> str:
    read_only_fields = {(name,) for name in ("id", "agentId", "createdAt", "updatedAt")}
    if error["loc"] in read_only_fields:
        return "cannot be changed"
    return "no such field" if error["type"] == "extra_forbidden" else error["msg"]


def _parse_playbook(row: Any) -> Playbook:
    content = Workflow.model_validate(row["content"])
    return Playbook(row["id"], row["assistant"], content, row["created_at"], row["updated_at"], row["workspace"])


def _contains_text(playbook: Playbook, text: str) -> bool:
    """Whether the text stands in it. It is looked for here: in the database the words are JSON."""
    content = playbook.content
    steps = (said for step in content.workflow for said in (step.stepId, step.description, step.action.toolName))
    said = (playbook.assistant, content.goal, content.initialCommand, *steps)
    return any(text.casefold() in each.casefold() for each in said)


def _build_not_found_error(name: str) -> NotFound:
    return NotFound(f"id: no playbook {name[:64]!r}", hint="list_playbooks shows yours", code="playbook_not_found")
