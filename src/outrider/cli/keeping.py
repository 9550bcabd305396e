"""What `outrider doctor` finds out of where things are kept: database, artifacts, and what makes vectors."""

import io
import shutil
import uuid
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from outrider.app import App
from outrider.cli.finding import Finding
from outrider.core.database.address import file_of
from outrider.core.egress.guard import Guard
from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.http import Http

if TYPE_CHECKING:
    from outrider.core.database.standing import Standing

LOW_SPACE = 200_000_000  # bytes; the page cache alone may take as much
CROWDED = 0.8  # of the connections that the server allows
SKEWED = 2.0  # seconds; leases and pauses are counted in such
SLOW = 20.0  # milliseconds for a question and its answer; a call asks some


async def keeping(app: "App") -> AsyncGenerator[Finding]:
    """All of it."""
    async for finding in _database(app):
        yield finding
    async for finding in _artifacts(app):
        yield finding
    async for finding in _embedders(app):
        yield finding


async def _database(app: "App") -> AsyncGenerator[Finding]:
    from outrider.core.database.standing import standing

    folder = app.loaded.settings.data_dir
    try:
        async with app.database.write():
            pass
        found = await standing(app.database)
    except OutriderError as error:
        place = file_of(app.database.url)
        yield Finding("bad", f"{error.message} ({place})" if place else error.message, error.hint)
        return
    if app.database.shared:
        yield Finding("ok", f"the database {found.place} can be written")
        for finding in _shared(app, found):
            yield finding
    else:
        yield Finding("ok", f"the database in {folder} can be written")
    yield Finding("ok", f"the database is of revision {found.revision} and answers in {found.milliseconds} ms")
    free = shutil.disk_usage(folder).free if folder.exists() else LOW_SPACE
    if free < LOW_SPACE:
        yield Finding("note", f"only {free // 1_000_000} MB are free in {folder}", "free space, or set `data_dir`")


def _shared(app: "App", found: "Standing") -> list[Finding]:
    """What matters where several processes work together."""
    findings = []
    used, most = found.connections or 0, found.most_connections or 1
    if used > CROWDED * most:
        remedy = "raise max_connections of the server, or lower `database_connections` of the replicas"
        findings.append(Finding("note", f"{used} of the server's {most} connections are taken", remedy))
    if abs(found.clock) > SKEWED:
        said = f"this machine's clock is {abs(found.clock):.1f} seconds {'behind' if found.clock > 0 else 'ahead of'}"
        findings.append(Finding("note", f"{said} the server's", "let NTP set both clocks"))
    if found.milliseconds > SLOW:
        said = f"the database needs {found.milliseconds} ms for an answer"
        findings.append(Finding("note", said, "run replicas near their database"))
    if not app.loaded.settings.serve.state_key:
        said = "paused calls can be answered on this machine only: replicas have no key in common"
        findings.append(Finding("note", said, "set the same `serve.state_key` (OUTRIDER_SERVE__STATE_KEY) on all"))
    if not app.loaded.settings.artifacts.storage:
        said = f"artifacts are in {app.artifacts.storage.place}, which other machines may not see"
        findings.append(Finding("note", said, "set `artifacts.storage` to a shared folder or to s3://bucket/prefix?…"))
    return findings


async def _artifacts(app: "App") -> AsyncGenerator[Finding]:
    """Whether a file can be kept, read and removed."""
    storage, name = app.artifacts.storage, str(uuid.uuid4())
    try:
        await storage.put(name, io.BytesIO(b"outrider doctor"))
        await storage.read(name)
        await storage.remove([name])
        yield Finding("ok", f"artifacts can be kept in {storage.place}")
    except FileNotFoundError:
        yield Finding("bad", f"what is written to {storage.place} is not there", "check the storage's settings")
    except OutriderError as error:
        yield Finding("bad", f"artifacts in {storage.place}: {error.message}", error.hint)


async def _embedders(app: "App") -> AsyncGenerator[Finding]:
    """What turns texts into vectors, for search by meaning; nothing is loaded."""
    from outrider.content.meaning.embedder import Means
    from outrider.content.meaning.embedding import chosen, known

    loaded, http = app.loaded, Http(Guard(app.loaded.settings.egress))
    settings, folder = loaded.settings, loaded.settings.data_dir / "models"
    means = Means(settings.content.embedding, http, folder, loaded.environ, settings.models.keys)
    try:
        used = chosen(means.settings, http, means.environ, folder=folder, keys=means.keys)
    except NotConfigured as error:
        yield Finding("bad", f"search by meaning: {error.message}", error.hint)
        return
    finally:
        await http.close()
    if used is None:
        yield Finding("note", "search by meaning is off", "set `content.embedding.provider` to auto")
        return
    yield Finding("ok", f"search by meaning: vectors of {used.name}")
    for each in known().values():
        if missing := each.missing(means):
            yield Finding("note", f"search by meaning: {each.title} is not used: {missing}", each.remedy)
