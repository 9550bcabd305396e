"""Cancel the work for a request whose client has hung up."""

from collections.abc import Callable

import anyio
from starlette.types import Receive


async def cancel_on_disconnect(
    receive: Receive, scope: anyio.CancelScope, on_disconnect: Callable[[], object] = lambda: None
) -> None:
    """Wait until the client disconnects, then cancel the scope; the request's body was read before."""
    while (await receive())["type"] != "http.disconnect":
        pass
    on_disconnect()
    scope.cancel()
