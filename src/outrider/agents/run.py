"""One run of an agent, as every process sees it: a row."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from outrider.agents.conversations import Conversation, ConversationMessage, insert_message
from outrider.agents.definition import Agent, Budgets
from outrider.agents.limits import RunUsage
from outrider.core.context import Call, RunContext
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound
from outrider.core.grant import Grant
from outrider.core.tracing import capture_trace_context

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, RowMapping


RunStatus = Literal["queued", "running", "blocked", "completed", "partial", "failed", "cancelled"]
ENDED_STATUSES = frozenset({"completed", "partial", "failed", "cancelled"})
RESTING_STATUSES = ENDED_STATUSES | {"blocked"}  # nothing happens until somebody acts
ACTIVE_STATUSES = ("queued", "running")


@dataclass(frozen=True)
class Run:
    """A run.

    Attributes:
        message_id: The message that it answers.
        definition: The agent as it was when the run began: later changes do not reach it.
        stop_reason: Why the last attempt ended: `done`, `steps`, `tokens`, `cost`, `time`, `repetition`, …
        attempt: How often it was taken up, 1 at first; one more after each question.
        usage: What it used itself; `Runs.usage` has the sum with all below.
        state: `citations` (reference to citation), `files`, `seconds` at work, `asked` calls, and what whoever began
            the run may do (`grant`).
        history: The model's messages, to go on from; not for reading.
        executor: The process that works on it.
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
        """Whether it is over for good; a blocked run is not."""
        return self.status in ENDED_STATUSES

    @property
    def citations(self) -> dict[str, dict[str, Any]]:
        """What the references in the answer stand for."""
        return self.state.get("citations", {})

    @property
    def files(self) -> list[dict[str, Any]]:
        """What the run made: each with `id`, `title` and `content_type`."""
        return self.state.get("files", [])

    def build_context(self, call_id: str = "") -> RunContext:
        """What travels with the calls that the run makes."""
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
        """A call of the run's, for the person who began it."""
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


def _run(row: "RowMapping") -> Run:
    columns: dict[str, Any] = dict(row) | {"ancestors": tuple(row["ancestors"])}
    return Run(**columns)


@dataclass(frozen=True)
class DescendantRun:
    """A run of a tree: who began it, and what it has used."""

    id: str
    parent_id: str | None
    usage: dict[str, Any]


@dataclass(frozen=True)
class ActiveRun:
    """Who works on a run, and until when."""

    id: str
    attempt: int
    executor: str | None
    deadline: float | None
    updated_at: float
    is_child: bool = False  # begun by another run


class RunStore:
    """The table of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_run(self, row: Mapping[str, Any]) -> tuple[Run, bool]:
        """The new run and True; or the one that the same call of the same parent began before, and False."""
        from outrider.agents.tables import runs

        insert = self._database.build_insert(runs).values(dict(row)).on_conflict_do_nothing().returning(runs.c.id)
        if await self._database.run_transaction(
            lambda connection: connection.execute(insert).first() is not None, write=True
        ):
            return await self.get(row["id"]), True
        existing = await self.find_by_parent_call(row["parent_run_id"], row["parent_call_id"])
        assert existing is not None  # it is what the insertion collided with
        return existing, False

    async def get(self, run_id: str) -> Run:
        """The run. Raises NotFound."""
        from outrider.agents.tables import runs

        found = await self.list_runs(runs.c.id == to_storable_text(run_id, 200))
        if not found:
            raise NotFound(f"no run {run_id[:60]!r}", hint="use an id that an agent's result gave you")
        return found[0]

    async def list_runs(self, *conditions: "ColumnElement[bool]", limit: int = 1_000) -> list[Run]:
        """The runs that fit all conditions, the oldest first."""
        from sqlalchemy import select

        from outrider.agents.tables import runs

        query = select(runs).where(*conditions).order_by(runs.c.created_at, runs.c.id).limit(limit)

        def load_runs(connection: "Connection") -> list[Run]:
            return [_run(row) for row in connection.execute(query).mappings()]

        return await self._database.run_transaction(load_runs, write=False)

    async def find_by_parent_call(self, parent_run_id: str, call_id: str) -> Run | None:
        """Return the run that this call of a parent run started, if any."""
        from outrider.agents.tables import runs

        found = await self.list_runs(runs.c.parent_run_id == parent_run_id, runs.c.parent_call_id == call_id)
        return found[0] if found else None

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
        """Changes the runs that fit; how many did."""
        from sqlalchemy import update

        from outrider.agents.tables import runs

        query = update(runs).where(*conditions).values(updated_at=self._database.now(), **values)
        return await self._database.run_transaction(lambda connection: connection.execute(query).rowcount, write=True)

    async def claim_attempt(self, run: Run, executor: str) -> bool:
        """Takes up the present attempt, which is this process's; False if it was cancelled or superseded meanwhile."""
        from outrider.agents.tables import runs

        mine = runs.c.attempt == run.attempt, runs.c.executor == executor
        same = runs.c.id == run.id, runs.c.status.in_(ACTIVE_STATUSES), *mine
        now = self._database.now()
        seconds = run.budgets.get("seconds")
        left = None if seconds is None else max(1.0, seconds - run.state.get("seconds", 0.0))
        deadline = None if left is None else now + left
        started = run.started_at or now
        return await self.update_runs(*same, status="running", started_at=started, deadline=deadline) == 1

    async def finish_attempt(
        self, run: Run, worker: str, message: "ConversationMessage | None" = None, /, **values: Any
    ) -> bool:
        """Ends the attempt; False if it is no longer this process's.

        What the agent has said goes into its conversation in the same transaction: no run is over without it.
        """
        from sqlalchemy import update

        from outrider.agents.tables import runs

        mine = runs.c.id == run.id, runs.c.attempt == run.attempt, runs.c.executor == worker
        query = update(runs).where(*mine, runs.c.status == "running")
        query = query.values(updated_at=self._database.now(), **values)

        def update_and_post(connection: "Connection") -> bool:
            if connection.execute(query).rowcount != 1:
                return False
            if message is not None:
                insert_message(connection, message)
            return True

        return await self._database.run_transaction(update_and_post, write=True)

    async def list_descendants(self, run_id: str) -> list[DescendantRun]:
        """The runs that this one began, and those that they began."""
        from sqlalchemy import select

        from outrider.agents.tables import runs

        root = select(runs.c.root_run_id).where(runs.c.id == run_id).scalar_subquery()
        query = select(runs.c.id, runs.c.parent_run_id, runs.c.usage).where(runs.c.root_run_id == root)

        def load_tree(connection: "Connection") -> list[DescendantRun]:
            return [DescendantRun(*row) for row in connection.execute(query)]

        tree = await self._database.run_transaction(load_tree, write=False)
        found: list[DescendantRun] = []
        last = {run_id}
        while last:
            nearest = [each for each in tree if each.parent_id in last]
            found, last = found + nearest, {each.id for each in nearest}
        return found

    async def list_active(self) -> list[ActiveRun]:
        """The runs that somebody works on, or should."""
        from sqlalchemy import select

        from outrider.agents.tables import runs

        below = runs.c.parent_run_id.is_not(None)
        columns = (runs.c.id, runs.c.attempt, runs.c.executor, runs.c.deadline, runs.c.updated_at, below)
        query = select(*columns).where(runs.c.status.in_(ACTIVE_STATUSES))

        def load_active(connection: "Connection") -> list[ActiveRun]:
            return [ActiveRun(*row) for row in connection.execute(query)]

        return await self._database.run_transaction(load_active, write=False)

    async def list_cancelled(self, run_ids: Sequence[str]) -> list[str]:
        """Those of the runs that somebody cancelled."""
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
    """The row of a run that begins."""
    now = time.time()
    return _build_tree_columns(call.run) | {
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
        "state": dict(state) | ({"trace": trace} if (trace := capture_trace_context()) else {}),
        "history": history,
        "workspace": to_storable_text(call.workspace or "", 200),
        "session": to_storable_text(call.session, 200),
        "assistant": call.assistant,
        "thread": call.thread,
        "identity": call.identity,
        "created_at": now,
        "updated_at": now,
    }


def _build_tree_columns(above: RunContext | None) -> dict[str, Any]:
    """A new run's own id, and where it stands in the tree of runs."""
    made = f"run_{uuid.uuid4().hex}"
    if above is None:
        return {"id": made, "parent_run_id": None, "parent_call_id": None, "root_run_id": made}
    return {
        "id": made,
        "parent_run_id": above.id,
        "parent_call_id": above.call_id,
        "root_run_id": above.root_id,
    }
