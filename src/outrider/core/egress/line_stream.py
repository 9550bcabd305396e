"""One request of ours to another process of ours, whose answer comes line by line."""

from collections.abc import AsyncGenerator

import httpx2

from outrider.core.egress.client import build_guarded_client
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import Unavailable

UNREACHABLE_CODE = "unreachable"  # the code of an error with which nothing was sent


async def stream_lines(guard: EgressGuard, url: str, body: bytes, *, seconds: float) -> AsyncGenerator[str]:
    """Posts the body, and yields the lines of the answer as they come; closing the generator ends the request.

    Args:
        guard: Lets the request out.
        url: An address of the operator's own.
        body: What is sent.
        seconds: How long the other side may be silent.

    Raises:
        Unavailable: code `unreachable` where there was no connection, else `hop`.
    """
    async with build_guarded_client(guard, trusted=url, seconds=seconds) as client:
        try:
            async with client.stream("POST", url, content=body) as answer:
                if answer.status_code != 200:
                    raise Unavailable(f"the other replica answers {answer.status_code}", code="hop")
                async for line in answer.aiter_lines():
                    yield line
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Unavailable("the other replica cannot be reached", code=UNREACHABLE_CODE) from error
        except httpx2.HTTPError as error:
            raise Unavailable(
                "the connection to the other replica broke off", code="hop", hint="the call may have taken effect"
            ) from error
