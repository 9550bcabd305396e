"""Send a request to another replica, and stream the lines of its answer."""

from collections.abc import AsyncGenerator

import httpx2

from outrider.core.egress.client import build_guarded_client
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import Unavailable

UNREACHABLE_CODE = "unreachable"  # of an error before anything was sent


async def stream_lines(guard: EgressGuard, url: str, body: bytes, *, seconds: float) -> AsyncGenerator[str]:
    """Post the body, and yield the lines of the answer as they arrive; closing the generator ends the request.

    Args:
        guard: Opens the connection.
        url: A trusted address.
        body: The request's body.
        seconds: Read timeout.

    Raises:
        Unavailable: code `unreachable` if there was no connection, else `hop`.
    """
    async with build_guarded_client(guard, trusted=url, seconds=seconds) as client:
        try:
            async with client.stream("POST", url, content=body) as answer:
                if answer.status_code != 200:
                    raise Unavailable(f"the other replica answered {answer.status_code}", code="hop")
                async for line in answer.aiter_lines():
                    yield line
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Unavailable("the other replica cannot be reached", code=UNREACHABLE_CODE) from error
        except httpx2.HTTPError as error:
            raise Unavailable(
                "the connection to the other replica broke", code="hop", hint="the call may have taken effect"
            ) from error
