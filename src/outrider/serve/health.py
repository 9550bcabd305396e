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

# What is wrong, or None.
HealthCheck = Callable[[], Awaitable[str | None]]


def build_liveness_route() -> Route:
    """`/healthz`."""
    path = "/healthz"

    async def serve_liveness(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    return Route(path, serve_liveness)


def build_readiness_route(checks: Mapping[str, HealthCheck]) -> Route:
    """`/readyz`: 200 when all checks pass, else 503; each check with what it found."""
    path = "/readyz"

    async def serve_readiness(_: Request) -> Response:
        found = {name: await _run_check(check) for name, check in checks.items()}
        wrong = {name: each for name, each in found.items() if each}
        body = {"status": "not ready" if wrong else "ready", "checks": {name: found[name] or "ok" for name in found}}
        return JSONResponse(body, 503 if wrong else 200)

    return Route(path, serve_readiness)


async def _run_check(check: HealthCheck) -> str | None:
    check_timeout_s = 2.0  # that a check may take
    with anyio.move_on_after(check_timeout_s):
        try:
            return await check()
        except OutriderError as error:
            return error.code
    return f"no answer within {check_timeout_s:g} seconds"
