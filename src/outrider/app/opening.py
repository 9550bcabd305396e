"""Opening the house and closing it: what runs beside the tools, and in which order things end."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import Any

import anyio

from outrider.app.app import App
from outrider.app.building import Building
from outrider.app.sharing import Shared
from outrider.core.beside import beside
from outrider.core.egress.guard import Guard
from outrider.core.egress.proxy import EgressProxy
from outrider.core.errors import OutriderError
from outrider.settings import Loaded, load

DAY = 86_400


@asynccontextmanager
async def open_app(loaded: Loaded | None = None, *, shared: Shared | None = None) -> AsyncGenerator[App]:
    """The running house; leaving the context writes what is pending and closes all that was opened.

    Args:
        loaded: Settings from `outrider.settings.load`; read from their usual places by default.
        shared: What it has in common with other houses of this process; nothing by default.
    """
    loaded, shared = loaded or load(), shared or Shared()
    guard = Guard(loaded.settings.egress)
    async with _library_proxy(guard, loaded) as proxy:
        building = Building(loaded, guard, proxy, shared)
        try:
            app, http = building.app, building.http
        except BaseException:
            building.abandon()
            raise
        try:
            async with beside(*_duties(app)):
                yield app
        finally:
            # Only now, when nothing runs beside the tools any more: a connection in use must not be taken away.
            with anyio.CancelScope(shield=True):
                await app.processes.close()
                await app.evaluator.aclose()
                await app.runs.close()
                if app.neighbours is not None:
                    await app.neighbours.leave()
                await app.remote.aclose()
                await shared.give_back(app.browsers, app.browsers.aclose)
                await app.content.close()
                await app.events.flush()
                shared.leave(app.events)
                shared.leave(app.artifacts)
                await http.close()
                await shared.give_back(app.database, app.database.close)


def _duties(app: App) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """What runs beside the tools."""
    duties: list[Callable[[], Coroutine[Any, Any, None]]]
    duties = [app.events.write_forever, lambda: _sweep_daily(app), app.runs.mind, app.content.mind, app.crawler.mind]
    return [*duties, app.neighbours.mind] if app.neighbours is not None else duties


async def _sweep_daily(app: App) -> None:
    """Lets go of what is older than the settings keep; begins when the database is opened for something else."""
    await app.database.used.wait()
    from outrider.app.people import let_go

    while True:
        with suppress(OutriderError):
            await app.events.sweep(app.loaded.settings.keep_days * DAY, app.loaded.settings.identity.audit_days * DAY)
            await app.artifacts.sweep()
            await let_go(app)
            await anyio.to_thread.run_sync(app.workspaces.sweep)
            await app.evaluator.evaluations.sweep(app.loaded.settings.keep_days * DAY)
            await app.content.sweep()
        await anyio.sleep(DAY)


@asynccontextmanager
async def _library_proxy(guard: Guard, loaded: Loaded) -> AsyncGenerator[str | None]:
    """The address of a guarded proxy for what dials by itself when searching; None if there is nothing of the kind."""
    program = loaded.settings.search.agent_browser
    if find_spec("ddgs") is None and not (program.command or program.auto_install):
        yield None
        return

    async with EgressProxy(guard) as proxy:
        yield proxy.url_with_credentials
