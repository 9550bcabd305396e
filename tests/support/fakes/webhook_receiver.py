"""A receiver of webhooks over loopback."""

import json
from dataclasses import dataclass, field
from typing import Any

import anyio


@dataclass
class WebhookReceiver:
    """Records the received events.

    Attributes:
        events: The bodies, each with `id` of its delivery and whether it was `signed`.
        came: Set when an event has arrived.
    """

    events: list[dict[str, Any]] = field(default_factory=list)
    came: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        told = {"id": headers["webhook-id"], "signed": "webhook-signature" in headers}
        self.events.append({**json.loads(body), **told})
        self.came.set()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def wait_for(self, count: int) -> None:
        """Wait until this many different events have arrived."""
        while len({event["id"] for event in self.events}) < count:
            self.came = anyio.Event()
            await self.came.wait()
