"""What load balancers and orchestrators ask: does the process live, and may it get calls?

`/healthz` says that it lives: who restarts what does not answer there, must not restart what only waits for its
database. `/readyz` says whether calls may come.
"""

from collections.abc import Awaitable, Callable, Mapping

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from outrider import __version__
from outrider.core.errors import OutriderError

ALIVE = "/healthz"
READY = "/readyz"
SECONDS = 2.0  # that a check may take
# What is wrong, or None.
Check = Callable[[], Awaitable[str | None]]


def alive() -> Route:
    """`/healthz`."""

    async def answer(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    return Route(ALIVE, answer)


def ready(checks: Mapping[str, Check]) -> Route:
    """`/readyz`: 200 when all checks pass, else 503; each check with what it found."""

    async def answer(_: Request) -> Response:
        found = {name: await _found(check) for name, check in checks.items()}
        wrong = {name: each for name, each in found.items() if each}
        body = {"status": "not ready" if wrong else "ready", "checks": {name: found[name] or "ok" for name in found}}
        return JSONResponse(body, 503 if wrong else 200)

    return Route(READY, answer)


async def _found(check: Check) -> str | None:
    with anyio.move_on_after(SECONDS):
        try:
            return await check()
        except OutriderError as error:
            return error.code
    return f"no answer within {SECONDS:g} seconds"
