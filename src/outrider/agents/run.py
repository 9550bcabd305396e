"""Runs of agents and the table that stores them."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outrider.agents.conversations import Conversation, ConversationMessage, insert_message
from outrider.agents.definition import Agent, Budgets
from outrider.agents.limits import RunUsage
from outrider.agents.run_status import ACTIVE_STATUSES, ENDED_STATUSES, RunStatus
from outrider.agents.start_keys import ClaimedKey, StartKey, StartKeys, require_same_request
from outrider.core.context import Call, RunContext
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound
from outrider.core.grant import Grant
from outrider.core.tracing import capture_trace_context

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection


@dataclass(frozen=True)
class Run:
    """A run of an agent.

    Attributes:
        message_id: The message that it answers.
        definition: The agent as it was when the run started; later changes do not affect it.
        stop_reason: Why the last attempt ended: `done`, `steps`, `tokens`, `cost`, `time`, `repetition`, …
        attempt: The number of the attempt, from 1; each resumption adds one.
        usage: Its own usage; `RunService.sum_usage` includes all runs below it.
        state: `citations` by reference, `files`, working time in `seconds`, attached files (`given`), whether the
            client provides the model (`lent`), and the rights of the caller (`grant`).
        history: The model's messages, from which the next attempt continues.
        executor: The worker that the run belongs to; None while it waits for one.
    """

    id: str
    conversation_id: str
    message_id: str
    parent_run_id: str | None
    parent_call_id: str | None
    root_run_id: str
    agent: str
    definition: dict[str, Any]
    query: str
    status: RunStatus
    stop_reason: str | None
    attempt: int
    depth: int
    ancestors: tuple[str, ...]
    budgets: dict[str, Any]
    model: str | None
    usage: dict[str, Any]
    cost: float | None
    answer: str
    thoughts: str
    error: dict[str, Any] | None
    history: list[Any] | None
    state: dict[str, Any]
    workspace: str
    session: str
    assistant: str | None
    thread: str | None
    identity: str | None
    created_at: float
    started_at: float | None
    ended_at: float | None
    deadline: float | None
    updated_at: float
    executor: str | None

    @property
    def has_ended(self) -> bool:
        """Whether it has finally ended; a blocked run has not."""
        return self.status in ENDED_STATUSES

    @property
    def citations(self) -> dict[str, dict[str, Any]]:
        """The citations behind the references of the answer."""
        return self.state.get("citations", {})

    @property
    def files(self) -> list[dict[str, Any]]:
        """The files that the run made, with `title` and, once published, `id`, `uri` and `content_type`."""
        return self.state.get("files", [])

    def build_prompt(self) -> str:
        """Return the task with the files that came with it."""
        lines: list[str] = []
        for file in self.state.get("given", []):
            title, content = file.get("title") or file["id"], file.get("content")
            lines.append(f"- {title}" if title == file["id"] else f"- {title} (id {file['id']})")
            lines += [content] if content else []
        return "\n".join([self.query, "", "Attached files:", *lines]) if lines else self.query

    def build_context(self, call_id: str = "") -> RunContext:
        """Return the context that accompanies a call of the run."""
        return RunContext(
            id=self.id,
            root_id=self.root_run_id,
            conversation_id=self.conversation_id,
            agent=self.agent,
            depth=self.depth,
            ancestors=self.ancestors,
            call_id=call_id,
        )

    def build_call(self, call_id: str) -> Call:
        """Return a call of the run on behalf of the person who started it."""
        return Call(
            session=self.session,
            assistant=self.assistant,
            thread=self.thread,
            workspace=self.workspace or None,
            identity=self.identity,
            message=self.id,
            run=self.build_context(call_id),
            grant=Grant.from_dict(self.state.get("grant")),
        )


@dataclass(frozen=True)
class DescendantRun:
    """A run in a tree, its parent and its own usage."""

    id: str
    parent_id: str | None
    usage: dict[str, Any]


@dataclass(frozen=True)
class ActiveRun:
    """An active run, its worker, and its deadline in epoch seconds."""

    id: str
    attempt: int
    executor: str | None
    deadline: float | None
    updated_at: float
    is_child: bool = False  # started by another run


class RunStore:
    """The table of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._start_keys = StartKeys(database, "run")

    async def add_run(
        self, row: Mapping[str, Any], message: ConversationMessage | None = None, start_key: StartKey | None = None
    ) -> tuple[Run, bool]:
        """Add a run and the message that it answers; return the run with True.

        Returns the earlier run with False if the same call of its parent, or the same idempotency key, added it before.
        Raises InvalidInput if the key came with another request.
        """
        from outrider.agents.tables import runs

        insert = self._database.build_insert(runs).values(dict(row)).on_conflict_do_nothing().returning(runs.c.id)

        def insert_run(connection: "Connection") -> ClaimedKey | bool:
            claimed = self._start_keys.claim_key(connection, start_key, row["id"]) if start_key else None
            if claimed is not None:
                return claimed
            is_new = connection.execute(insert).first() is not None
            if is_new and message is not None:
                insert_message(connection, message)
            return is_new

        added = await self._database.run_transaction(insert_run, write=True)
        if isinstance(added, ClaimedKey):
            assert start_key is not None
            return await self.get(require_same_request(added, start_key).started_id), False
        if added:
            return await self.get(row["id"]), True
        existing = await self.find_by_parent_call(row["parent_run_id"], row["parent_call_id"])
        assert existing is not None  # the insertion collided with it
        return existing, False

    async def get(self, run_id: str) -> Run:
        """Return the run. Raises NotFound."""
        from outrider.agents.tables import runs

        found = await self.list_runs(runs.c.id == to_storable_text(run_id, 200))
        if not found:
            raise NotFound(f"run {run_id[:60]!r} does not exist", hint="use a run id from an agent's result")
        return found[0]

    async def list_runs(self, *conditions: "ColumnElement[bool]", limit: int = 1_000) -> list[Run]:
        """Return the runs that fit all conditions, the oldest first."""
        from sqlalchemy import select

        from outrider.agents.tables import runs

        query = select(runs).where(*conditions).order_by(runs.c.created_at, runs.c.id).limit(limit)

        def load_runs(connection: "Connection") -> list[Run]:
            rows = connection.execute(query).mappings()
            columns: list[dict[str, Any]] = [dict(row) | {"ancestors": tuple(row["ancestors"])} for row in rows]
            return [Run(**values) for values in columns]

        return await self._database.run_transaction(load_runs, write=False)

    async def find_by_parent_call(self, parent_run_id: str, call_id: str) -> Run | None:
        """Return the run that this call of a parent run started, if any."""
        from outrider.agents.tables import runs

        found = await self.list_runs(runs.c.parent_run_id == parent_run_id, runs.c.parent_call_id == call_id)
        return found[0] if found else None

    async def find_started(self, start_key: StartKey) -> Run | None:
        """Return the run that an idempotency key has started. Raises InvalidInput if it came with another request."""
        run_id = await self._start_keys.find_started_id(start_key)
        return None if run_id is None else await self.get(run_id)

    async def find_by_message(self, conversation_id: str, message_id: str) -> Run | None:
        """Return the newest run that answers a message, if any."""
        from outrider.agents.tables import runs

        found = await self.list_runs(runs.c.conversation_id == conversation_id, runs.c.message_id == message_id)
        return found[-1] if found else None

    async def list_recent(self, workspace: str, session: str, limit: int) -> list[Run]:
        """Return the outermost runs of a session, the newest first."""
        from outrider.agents.tables import runs

        of_session = runs.c.workspace == workspace, runs.c.session == session, runs.c.parent_run_id.is_(None)
        return (await self.list_runs(*of_session))[: -limit - 1 : -1]

    async def update_runs(self, *conditions: "ColumnElement[bool]", **values: Any) -> int:
        """Change the columns of all runs that fit the conditions; return their number."""
        from sqlalchemy import update

        from outrider.agents.tables import runs

        query = update(runs).where(*conditions).values(updated_at=self._database.now(), **values)
        return await self._database.run_transaction(lambda connection: connection.execute(query).rowcount, write=True)

    async def claim_attempt(self, run: Run, executor: str) -> bool:
        """Mark the current attempt as running; return False if it was cancelled or superseded."""
        from outrider.agents.tables import runs

        is_current = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.executor == executor
        now = self._database.now()
        budget_s = run.budgets.get("seconds")
        deadline = None if budget_s is None else now + max(1.0, budget_s - run.state.get("seconds", 0.0))
        changed = await self.update_runs(
            *is_current,
            runs.c.status.in_(ACTIVE_STATUSES),
            status="running",
            started_at=run.started_at or now,
            deadline=deadline,
        )
        return changed == 1

    async def finish_attempt(
        self, run: Run, worker: str, message: ConversationMessage | None = None, /, **values: Any
    ) -> bool:
        """End the attempt; return False if it no longer belongs to this worker.

        The agent's message is added in the same transaction, so that no run ends without its answer.
        """
        from sqlalchemy import update

        from outrider.agents.tables import runs

        is_current = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.executor == worker
        query = update(runs).where(*is_current, runs.c.status == "running")
        query = query.values(updated_at=self._database.now(), **values)

        def update_and_post(connection: "Connection") -> bool:
            if connection.execute(query).rowcount != 1:
                return False
            if message is not None:
                insert_message(connection, message)
            return True

        return await self._database.run_transaction(update_and_post, write=True)

    async def list_descendants(self, run_id: str) -> list[DescendantRun]:
        """Return all runs below this one, at any depth; the usage of active ones is that of their steps so far."""
        from sqlalchemy import select

        from outrider.agents.live_usage import load_live_usage, merge_usage
        from outrider.agents.tables import runs

        root = select(runs.c.root_run_id).where(runs.c.id == run_id).scalar_subquery()
        query = select(runs.c.id, runs.c.parent_run_id, runs.c.usage).where(runs.c.root_run_id == root)

        def load_tree(connection: "Connection") -> list[DescendantRun]:
            live = load_live_usage(connection, runs.c.root_run_id == root)
            rows = [merge_usage(row, live) for row in connection.execute(query).mappings()]
            return [DescendantRun(row["id"], row["parent_run_id"], row["usage"]) for row in rows]

        tree = await self._database.run_transaction(load_tree, write=False)
        descendants: list[DescendantRun] = []
        parent_ids = {run_id}
        while parent_ids:
            children = [run for run in tree if run.parent_id in parent_ids]
            descendants += children
            parent_ids = {run.id for run in children}
        return descendants

    async def load_usage(self, run_ids: Sequence[str]) -> dict[str, RunUsage]:
        """Return the own usage of runs by id; that of active ones is that of their steps so far."""
        from sqlalchemy import select

        from outrider.agents.live_usage import load_live_usage
        from outrider.agents.tables import runs

        is_wanted = runs.c.id.in_(run_ids)

        def load_rows(connection: "Connection") -> dict[str, RunUsage]:
            rows = connection.execute(select(runs.c.id, runs.c.usage).where(is_wanted))
            saved = {run_id: RunUsage.from_dict(usage) for run_id, usage in rows}
            return saved | load_live_usage(connection, is_wanted)

        return await self._database.run_transaction(load_rows, write=False)

    async def list_active(self) -> list[ActiveRun]:
        """Return the runs that are queued or running, in any process."""
        from sqlalchemy import select

        from outrider.agents.tables import runs

        is_child = runs.c.parent_run_id.is_not(None)
        columns = (runs.c.id, runs.c.attempt, runs.c.executor, runs.c.deadline, runs.c.updated_at, is_child)
        query = select(*columns).where(runs.c.status.in_(ACTIVE_STATUSES))

        def load_active(connection: "Connection") -> list[ActiveRun]:
            return [ActiveRun(*row) for row in connection.execute(query)]

        return await self._database.run_transaction(load_active, write=False)

    async def list_cancelled(self, run_ids: Sequence[str]) -> list[str]:
        """Return those of the runs that were cancelled."""
        from sqlalchemy import select

        from outrider.agents.tables import runs

        query = select(runs.c.id).where(runs.c.id.in_(run_ids), runs.c.status == "cancelled")
        return await self._database.run_transaction(
            lambda connection: list(connection.execute(query).scalars()), write=False
        )


def build_run_row(
    agent: Agent,
    query: str,
    call: Call,
    conversation: Conversation,
    *,
    message_id: str,
    budgets: Budgets,
    state: Mapping[str, Any],
    history: list[Any] | None,
) -> dict[str, Any]:
    """Return the row of a new run."""
    now = time.time()
    run_id = f"run_{uuid.uuid4().hex}"
    trace = capture_trace_context()
    return {
        "id": run_id,
        "parent_run_id": call.run.id if call.run else None,
        "parent_call_id": call.run.call_id if call.run else None,
        "root_run_id": call.run.root_id if call.run else run_id,
        "conversation_id": conversation.id,
        "message_id": message_id,
        "agent": agent.name,
        "definition": agent.model_dump(mode="json"),
        "query": to_storable_text(query),
        "status": "queued",
        "attempt": 1,
        "depth": conversation.depth,
        "ancestors": list(conversation.ancestors),
        "budgets": budgets.model_dump(exclude_none=True),
        "usage": RunUsage().to_dict(),
        "answer": "",
        "thoughts": "",
        "state": dict(state) | ({"trace": trace} if trace else {}),
        "history": history,
        "workspace": to_storable_text(call.workspace or "", 200),
        "session": to_storable_text(call.session, 200),
        "assistant": call.assistant,
        "thread": call.thread,
        "identity": call.identity,
        "created_at": now,
        "updated_at": now,
    }
