"""Requests over HTTP that would be acknowledged like notifications, since their id is none: they are refused instead.

Only what is about to be acknowledged (202) is looked at, so that calls cost no second reading.
"""

from http import HTTPStatus

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.serve.unread import misnamed


class RefuseMisnamed:
    """In front of an MCP endpoint."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        parts: list[bytes] = []
        refused = False

        async def received() -> Message:
            message = await receive()
            parts.append(message.get("body", b""))
            return message

        async def answered(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start":
                error = misnamed(b"".join(parts)) if message["status"] == HTTPStatus.ACCEPTED else None
                parts.clear()
                if refused := error is not None:
                    text = error.model_dump_json(by_alias=True, exclude_unset=True)
                    await Response(text, HTTPStatus.BAD_REQUEST, media_type="application/json")(scope, receive, send)
            if not refused:
                await send(message)

        await self._app(scope, received, answered)
