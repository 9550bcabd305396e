"""Liveness and readiness endpoints for load balancers and orchestrators.

`/healthz` answers while the process lives, also without its database, because a restart would not help.
`/readyz` says whether the process can take calls.
"""

from collections.abc import Awaitable, Callable, Mapping

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from outrider import __version__
from outrider.core.errors import OutriderError

# Returns a description of the problem, or None.
HealthCheck = Callable[[], Awaitable[str | None]]


def build_liveness_route() -> Route:
    """Build `/healthz`."""

    async def serve_liveness(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    return Route("/healthz", serve_liveness)


def build_readiness_route(checks: Mapping[str, HealthCheck]) -> Route:
    """Build `/readyz`, which answers 200 if all checks pass, else 503, with the result of each check."""

    async def serve_readiness(_: Request) -> Response:
        problems = {name: await _run_check(check) for name, check in checks.items()}
        failed = any(problems.values())
        results = {name: problem or "ok" for name, problem in problems.items()}
        return JSONResponse({"status": "not ready" if failed else "ready", "checks": results}, 503 if failed else 200)

    return Route("/readyz", serve_readiness)


async def _run_check(check: HealthCheck) -> str | None:
    timeout_s = 2.0
    with anyio.move_on_after(timeout_s):
        try:
            return await check()
        except OutriderError as error:
            return error.code
    return f"no answer within {timeout_s:g} seconds"
