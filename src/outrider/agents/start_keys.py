"""Remember the runs and evaluations that idempotency keys have started.

A caller that lost the answer of its call repeats the call with the same key and gets the same run or evaluation
(draft-ietf-httpapi-idempotency-key-header). Keys are kept in the database, so that any replica recognizes them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection

MAX_KEY_CHARS = 255


@dataclass(frozen=True)
class StartKey:
    """An idempotency key with the request that it came with.

    Attributes:
        id: A hash of the key and of its owner: the person, or the session of an anonymous caller, in the workspace.
        fingerprint: A hash of the request.
    """

    id: str
    fingerprint: str


@dataclass(frozen=True)
class ClaimedKey:
    """The run or evaluation that a key has started, and the fingerprint of its request."""

    started_id: str
    fingerprint: str


def build_start_key(key: str, call: Call, request: Mapping[str, Any]) -> StartKey:
    """Return the key of a caller for a request. Raises InvalidInput if it is too long."""
    if len(key) > MAX_KEY_CHARS:
        raise InvalidInput(
            f"idempotency_key has {len(key)} characters, at most {MAX_KEY_CHARS} are allowed", hint="use a UUID"
        )
    owner = ["person", call.identity] if call.identity else ["session", call.session]
    return StartKey(_hash_json([call.workspace or "", *owner, key]), _hash_json(request))


class StartKeys:
    """A table of idempotency keys.

    Args:
        database: Holds the table.
        started: The kind of thing that the keys of this table start.
    """

    def __init__(self, database: Database, started: Literal["run", "evaluation"]) -> None:
        self._database = database
        self._started = started

    async def find_started_id(self, key: StartKey) -> str | None:
        """Return the id that the key has started, if any. Raises InvalidInput if it came with another request."""
        claimed = await self._database.run_transaction(
            lambda connection: self._load_claim(connection, key, self._database.now()), write=False
        )
        return None if claimed is None else require_same_request(claimed, key).started_id

    def claim_key(self, connection: "Connection", key: StartKey, started_id: str) -> ClaimedKey | None:
        """Let the key start something, in the transaction that adds it; return an earlier claim if there is one."""
        key_lifetime_s = 86_400.0
        from sqlalchemy import delete

        now, column = self._database.now(), self._find_column()
        table = column.table
        connection.execute(delete(table).where(table.c.expires_at <= now))
        row = {column.name: started_id, "expires_at": now + key_lifetime_s} | vars(key)
        insert = self._database.build_insert(table).values(row).on_conflict_do_nothing().returning(table.c.id)
        return self._load_claim(connection, key, now) if connection.execute(insert).first() is None else None

    def _find_column(self) -> "Column[str]":
        """Return the column with the id of the started run or evaluation."""
        from outrider.agents.tables import evaluation_keys, run_keys

        return run_keys.c.run_id if self._started == "run" else evaluation_keys.c.evaluation_id

    def _load_claim(self, connection: "Connection", key: StartKey, now: float) -> ClaimedKey | None:
        from sqlalchemy import select

        column = self._find_column()
        query = select(column, column.table.c.fingerprint)
        row = connection.execute(query.where(column.table.c.id == key.id, column.table.c.expires_at > now)).first()
        return None if row is None else ClaimedKey(*row)


def require_same_request(claimed: ClaimedKey, key: StartKey) -> ClaimedKey:
    """Return the claim. Raises InvalidInput if the key came with another request."""
    if claimed.fingerprint == key.fingerprint:
        return claimed
    raise InvalidInput(
        f"idempotency_key: this key has already started another task ({claimed.started_id})",
        hint="use a new key for a new task, or repeat the first call without changes to get its result",
        code="idempotency_key_reused",
    )


def _hash_json(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
