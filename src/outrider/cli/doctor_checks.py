"""Checks of `outrider doctor`: database, artifacts, embedders, identity."""

import io
import shutil
import time
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from outrider.app import App
from outrider.core.database.address import get_sqlite_path
from outrider.core.database.failures import DatabaseLocked
from outrider.core.database.sqlite_locks import describe_process, find_writer
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.http import HttpClient
from outrider.core.installation import get_installation

if TYPE_CHECKING:
    from outrider.core.database.status import DatabaseStatus

FindingState = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """The state of one part, and how to fix it.

    Attributes:
        state: `ok`, `note` if nothing needs to change, or `bad`.
        what: The finding, as a sentence that begins with its area, such as `search: `.
        remedy: How to fix it; may be empty.
        choice: A short name, if it is one of several alternatives.
    """

    state: FindingState
    what: str
    remedy: str = ""
    choice: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "remedy", get_installation().adapt_commands(self.remedy))


async def check_storage(app: "App") -> AsyncGenerator[Finding]:
    """Run all checks of stored data."""
    for check in (_check_database, _check_artifacts, _check_embedders):
        async for finding in check(app):
            yield finding


async def _check_database(app: "App") -> AsyncGenerator[Finding]:
    min_free_bytes = 200_000_000  # bytes; the page cache alone may take as much
    from outrider.core.database.status import read_database_status

    folder = app.loaded.settings.data_dir
    try:
        async with app.database.write():
            pass
        found = await read_database_status(app.database)
    except OutriderError as error:
        place = get_sqlite_path(app.database.url)
        yield Finding("bad", f"{error.message} ({place})" if place else error.message, error.hint)
        if place and isinstance(error, DatabaseLocked) and (writer := find_writer(place)):
            yield Finding("note", f"{describe_process(writer)} holds the write lock", "wait for it, or end it")
        return
    if app.database.is_shared:
        yield Finding("ok", f"the database {found.place} can be written")
        for finding in _check_shared_database(app, found):
            yield finding
    else:
        yield Finding("ok", f"the database in {folder} can be written")
    yield Finding("ok", f"the database has revision {found.revision} and answers in {found.milliseconds} ms")
    free = shutil.disk_usage(folder).free if folder.exists() else min_free_bytes
    if free < min_free_bytes:
        yield Finding("note", f"only {free // 1_000_000} MB are free in {folder}", "free space, or set `data_dir`")


def _check_shared_database(app: "App", found: "DatabaseStatus") -> list[Finding]:
    """Check the requirements of several processes on one database."""
    slow_answer_ms = 20.0  # round trip of a query; a call needs several
    max_clock_skew_s = 2.0  # leases and pauses last a few seconds
    crowded_share = 0.8  # of the connections that the server allows
    findings = []
    used, max_connections = found.connections or 0, found.most_connections or 1
    if used > crowded_share * max_connections:
        remedy = "raise max_connections of the server, or lower `database_connections` of the replicas"
        findings.append(Finding("note", f"{used} of the server's {max_connections} connections are taken", remedy))
    if abs(found.clock) > max_clock_skew_s:
        direction = "behind" if found.clock > 0 else "ahead of"
        problem = f"this machine's clock is {abs(found.clock):.1f} seconds {direction} the server's"
        findings.append(Finding("note", problem, "let NTP set both clocks"))
    if found.milliseconds > slow_answer_ms:
        problem = f"the database takes {found.milliseconds} ms to answer"
        findings.append(Finding("note", problem, "run replicas near their database"))
    if not app.loaded.settings.serve.state_key:
        problem = "paused calls can be answered on this machine only: replicas have no shared key"
        findings.append(Finding("note", problem, "set the same `serve.state_key` (OUTRIDER_SERVE__STATE_KEY) on all"))
    if not app.loaded.settings.artifacts.storage:
        problem = f"artifacts are in {app.artifacts.storage.location}, which other machines may not see"
        findings.append(
            Finding("note", problem, "set `artifacts.storage` to a shared folder or to s3://bucket/prefix?…")
        )
    return findings


async def _check_artifacts(app: "App") -> AsyncGenerator[Finding]:
    """Check that a file can be written, read and removed."""
    storage, name = app.artifacts.storage, str(uuid.uuid4())
    try:
        await storage.put(name, io.BytesIO(b"outrider doctor"))
        await storage.read(name)
        await storage.remove([name])
        yield Finding("ok", f"artifacts can be stored in {storage.location}")
    except FileNotFoundError:
        yield Finding("bad", f"files written to {storage.location} cannot be read back", "check the storage's settings")
    except OutriderError as error:
        yield Finding("bad", f"artifacts in {storage.location}: {error.message}", error.hint)


async def _check_embedders(app: "App") -> AsyncGenerator[Finding]:
    """Check the embedders for search by meaning, without loading them."""
    from outrider.content.semantic.embedder import EmbedderDependencies
    from outrider.content.semantic.select_embedder import load_embedder_providers, select_embedder

    loaded, http = app.loaded, HttpClient(EgressGuard(app.loaded.settings.egress))
    settings, folder = loaded.settings, loaded.settings.data_dir / "models"
    dependencies = EmbedderDependencies(settings.content.embedding, http, folder, loaded.environ, settings.models.keys)
    try:
        used = select_embedder(dependencies.settings, http, dependencies.environ, folder=folder, keys=dependencies.keys)
    except NotConfigured as error:
        yield Finding("bad", f"search by meaning: {error.message}", error.hint)
        return
    finally:
        await http.close()
    if used is None:
        yield Finding("note", "search by meaning is off", "set `content.embedding.provider` to auto")
        return
    yield Finding("ok", f"search by meaning: vectors of {used.name}")
    for each in load_embedder_providers().values():
        if missing := each.missing(dependencies):
            problem = f"search by meaning: {each.title} is not used: {missing}"
            yield Finding("note", problem, each.remedy, choice=each.title)


async def check_identity(app: "App") -> AsyncGenerator[Finding]:
    """Check that callers can authenticate if that is required."""
    settings = app.loaded.settings.identity
    if not settings.is_enabled:
        return
    identity = app.identity()
    try:
        if settings.tokens:
            active = [
                each for each in await identity.tokens.list_tokens() if each.compute_state(time.time()) == "active"
            ]
            remedy = (
                "" if active else "outrider workspace create <name> --owner <person>; outrider token create <person>"
            )
            state = "ok" if active or settings.oauth.issuer else "bad"
            yield Finding(state, f"identity: {len(active)} tokens are valid", remedy)
        if identity.provider is not None:
            count = await identity.provider.count_usable_keys()
            yield Finding("ok", f"identity: {settings.oauth.issuer} publishes {count} usable keys")
    except OutriderError as error:
        yield Finding("bad", f"identity: {error.message}", error.hint)
    if app.loaded.settings.serve.token:
        yield Finding(
            "note", "identity: holders of serve.token can act as any person they name", "leave serve.token empty"
        )
