"""Remember the runs that idempotency keys have started.

A caller that lost the answer of its call repeats the call with the same key and gets the same run
(draft-ietf-httpapi-idempotency-key-header). Keys are kept in the database, so that any replica recognizes them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput

if TYPE_CHECKING:
    from sqlalchemy import Connection

KEY_LIFETIME_S = 86_400.0
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
    """The run that a key has started, and the fingerprint of its request."""

    run_id: str
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
    """The table of idempotency keys."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_run_id(self, key: StartKey) -> str | None:
        """Return the run that the key has started. Raises InvalidInput if it came with another request."""
        claimed = await self._database.run_transaction(
            lambda connection: _load_claim(connection, key, self._database.now()), write=False
        )
        return None if claimed is None else require_same_request(claimed, key).run_id

    def claim(self, connection: "Connection", key: StartKey, run_id: str) -> ClaimedKey | None:
        """Let the key start a run, in the transaction that adds it; return an earlier claim instead if there is one."""
        from sqlalchemy import delete

        from outrider.agents.tables import run_keys

        now = self._database.now()
        connection.execute(delete(run_keys).where(run_keys.c.expires_at <= now))
        row = {"id": key.id, "fingerprint": key.fingerprint, "run_id": run_id, "expires_at": now + KEY_LIFETIME_S}
        insert = self._database.build_insert(run_keys).values(row).on_conflict_do_nothing().returning(run_keys.c.id)
        return _load_claim(connection, key, now) if connection.execute(insert).first() is None else None


def require_same_request(claimed: ClaimedKey, key: StartKey) -> ClaimedKey:
    """Return the claim. Raises InvalidInput if the key started another request's run."""
    if claimed.fingerprint == key.fingerprint:
        return claimed
    raise InvalidInput(
        f"idempotency_key: this key has already started another task (run {claimed.run_id})",
        hint="use a new key for a new task, or repeat the first call without changes to get its run",
        code="idempotency_key_reused",
    )


def _load_claim(connection: "Connection", key: StartKey, now: float) -> ClaimedKey | None:
    from sqlalchemy import select

    from outrider.agents.tables import run_keys

    query = select(run_keys.c.run_id, run_keys.c.fingerprint)
    row = connection.execute(query.where(run_keys.c.id == key.id, run_keys.c.expires_at > now)).first()
    return None if row is None else ClaimedKey(*row)


def _hash_json(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
