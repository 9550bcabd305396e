"""Open and close the application, and run its background tasks."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import Any

import anyio

from outrider.app.app import App
from outrider.app.container import Container
from outrider.app.shared_components import SharedComponents
from outrider.core.background import run_background
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.proxy import EgressProxy
from outrider.core.errors import OutriderError
from outrider.settings import LoadedSettings, Settings, load
from outrider.settings.layers import parse_named_values


@asynccontextmanager
async def open_app(
    loaded: LoadedSettings | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    shared: SharedComponents | None = None,
) -> AsyncGenerator[App]:
    """Open the application; leaving the context writes pending records and closes everything.

    Args:
        loaded: Settings from `outrider.settings.load`; by default read from their usual places.
        settings: Settings by name that override those places, for instance `{"search.order": "brave,tavily"}`;
            ignored with `loaded`.
        shared: Components shared with other apps of this process; none by default.

    Raises:
        InvalidInput: A setting is unknown or wrong.
    """
    loaded, shared = loaded or load(parse_named_values(settings or {}, Settings)), shared or SharedComponents()
    guard = EgressGuard(loaded.settings.egress)
    async with _open_library_proxy(guard, loaded) as proxy:
        container = Container(loaded, guard, proxy, shared)
        try:
            app, http = container.app, container.http
        except BaseException:
            container.release_shared()
            raise
        try:
            async with run_background(*_list_background_tasks(app)):
                yield app
        finally:
            # Only after the background tasks have ended, because a connection in use must not be closed.
            with anyio.CancelScope(shield=True):
                await app.processes.close()
                await app.evaluator.aclose()
                await app.runs.close()
                if app.cluster is not None:
                    await app.cluster.leave()
                await app.server_tools.aclose()
                await app.remote_servers.aclose()
                await shared.release_and_close(app.browsers, app.browsers.aclose)
                await app.content.close()
                await app.events.flush()
                shared.release(app.events)
                shared.release(app.artifacts)
                await http.close()
                await shared.release_and_close(app.database, app.database.close)


def _list_background_tasks(app: App) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    tasks: list[Callable[[], Coroutine[Any, Any, None]]] = [
        app.events.write_forever,
        lambda: _sweep_daily(app),
        app.runs.run_forever,
        app.content.run_forever,
        app.crawler.run_forever,
    ]
    return [*tasks, app.cluster.run_forever] if app.cluster is not None else tasks


async def _sweep_daily(app: App) -> None:
    """Delete expired data once something else has opened the database."""
    keep_days, seconds_per_day = app.loaded.settings.keep_days, 86_400
    await app.database.opened_event.wait()
    from outrider.app.identity_cleanup import sweep_identity_data

    while True:
        with suppress(OutriderError):
            await app.events.delete_expired(
                keep_days * seconds_per_day,
                app.loaded.settings.identity.audit_days * seconds_per_day,
            )
            await app.artifacts.delete_expired()
            await sweep_identity_data(app)
            await anyio.to_thread.run_sync(app.workspaces.purge_unused, keep_days)
            await app.evaluator.evaluations.delete_expired(keep_days * seconds_per_day)
            await app.content.purge_stale(keep_days)
        await anyio.sleep(seconds_per_day)


@asynccontextmanager
async def _open_library_proxy(guard: EgressGuard, loaded: LoadedSettings) -> AsyncGenerator[str | None]:
    """Yield the address of a guarded proxy for search libraries that open connections; None if none is installed."""
    if find_spec("ddgs") is None and not loaded.settings.search.agent_browser.command:
        yield None
        return

    async with EgressProxy(guard) as proxy:
        yield proxy.url_with_credentials
