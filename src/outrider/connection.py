"""Call tools from Python, in the sessions of terminal and hosts.

The shared process runs the tools.

    with outrider.connect() as client:
        client.call("navigateToUrl", url="https://example.com")
        print(client.call("extractPageContent").text)

The shared process is started if it does not run. `AsyncClient` is the same for asyncio.
"""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

from outrider.client.server_connection import (
    ConnectionEnded,
    ServerConnection,
    UnknownTool,
    build_form_answer,
    read_response,
)
from outrider.client.tool_client import ProgressListener, QuestionAnswerer, ToolClient
from outrider.core.errors import (
    ERROR_META_KEY,
    InvalidInput,
    NotConfigured,
    NotFound,
    OutriderError,
    Refused,
    Unavailable,
)
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, ResultBlock, TextBlock

AsyncQuestionAnswerer = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any] | None]]


@dataclass(frozen=True)
class ToolDescription:
    """A tool as the server offers it; `output_schema` is None for tools that return text."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    reads_only: bool


class Client:
    """A connection to the shared process; made by `connect`, closed by `close` or the end of a `with` block."""

    def __init__(self, client: ToolClient) -> None:
        self._client = client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection. The session, with its open pages, stays."""
        self._client.close()

    def call(self, tool: str, /, on_progress: ProgressListener | None = None, **arguments: Any) -> Result:
        """Call a tool: `client.call("web_search", query="tea")`. May be used by several threads.

        Args:
            tool: Its name.
            on_progress: Receives the amount done, the total (None if unknown) and a message while the tool works.
            arguments: The tool's arguments.

        Raises:
            OutriderError: InvalidInput, NotFound, Refused, NotConfigured or Unavailable, as `open_app().call` does.
        """
        params = {"name": tool, "arguments": arguments}
        return _build_result(_translate_errors(partial(self._client.request, "tools/call", params, on_progress)))

    def list_tools(self) -> list[ToolDescription]:
        """Return the offered tools. Raises Unavailable."""
        return _describe_tools(_translate_errors(partial(self._client.request, "tools/list", {})))

    def read_artifact(self, uri: str) -> bytes:
        """Return a file that a result links to. Raises NotFound."""
        return _decode_contents(_translate_errors(partial(self._client.request, "resources/read", {"uri": uri})))


class AsyncClient:
    """A connection to the shared process for asyncio; made by `connect_async`, to be used in `async with`."""

    def __init__(self, connection: ServerConnection, answer_question: AsyncQuestionAnswerer | None) -> None:
        self._connection = connection
        self._answer_question = answer_question

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the connection. The session, with its open pages, stays."""
        await asyncio.to_thread(self._connection.close)

    async def call(self, tool: str, /, on_progress: ProgressListener | None = None, **arguments: Any) -> Result:
        """Call a tool like `Client.call`. A cancelled task cancels the call."""
        return _build_result(await self._request("tools/call", {"name": tool, "arguments": arguments}, on_progress))

    async def list_tools(self) -> list[ToolDescription]:
        """Return the offered tools. Raises Unavailable."""
        return _describe_tools(await self._request("tools/list", {}))

    async def read_artifact(self, uri: str) -> bytes:
        """Return a file that a result links to. Raises NotFound."""
        return _decode_contents(await self._request("resources/read", {"uri": uri}))

    async def _request(
        self, method: str, params: dict[str, Any], on_progress: ProgressListener | None = None
    ) -> dict[str, Any]:
        loop, inbox = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any] | None]()
        deliver = partial(loop.call_soon_threadsafe, inbox.put_nowait)
        number = self._connection.send_request(method, params, deliver, wants_progress=on_progress is not None)
        try:
            while (message := await inbox.get()) is not None and "method" in message:
                form = message["params"]
                if message["method"] == "elicitation/create":
                    ask = self._answer_question
                    content = await ask(form["message"], form["requestedSchema"]) if ask else None
                    self._connection.send(build_form_answer(message, content))
                elif on_progress is not None:
                    on_progress(form["progress"], form.get("total"), form.get("message", ""))
        except BaseException:
            self._connection.cancel_request(number)
            raise
        return _translate_errors(partial(read_response, message))


def connect(
    session: str = "",
    *,
    toolsets: str = "all",
    settings: Mapping[str, object] | None = None,
    answer_question: QuestionAnswerer | None = None,
) -> Client:
    """Connect to this user's shared process, and start it if necessary.

    Args:
        session: The session of the calls, as in `outrider call -s NAME` and `outrider mcp --session NAME`. Empty takes
            that of the working directory, which hosts started there use too.
        toolsets: The toolsets to offer, as in `outrider mcp --toolsets`.
        settings: Settings by name, for instance `{"search.order": "brave"}`.
        answer_question: Takes a question and the JSON schema of its answer, in the calling thread; returns the answer,
            or None to decline. Without it, calls that need consent raise Refused.
    """
    return Client(ToolClient(session, _build_options(toolsets, settings), answer_question))


def connect_async(
    session: str = "",
    *,
    toolsets: str = "all",
    settings: Mapping[str, object] | None = None,
    answer_question: AsyncQuestionAnswerer | None = None,
) -> AsyncClient:
    """Connect as `connect` does, for use in `async with` of asyncio."""
    can_answer = answer_question is not None
    options = _build_options(toolsets, settings)
    return AsyncClient(ServerConnection(session, options, can_answer=can_answer), answer_question)


def _build_options(toolsets: str, settings: Mapping[str, object] | None) -> tuple[str, ...]:
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in (settings or {}).items()}
    words = [word for name, text in texts.items() for word in ("--set", f"{name}={text}")]
    return ("--toolsets", toolsets, *words)


def _translate_errors(request: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of a request; raise the connection's errors as errors of tools."""
    try:
        return request()
    except UnknownTool as error:
        message, _, hint = str(error).partition("; ")
        raise NotFound(message, hint=hint, code="unknown_tool" if hint else "") from None
    except ConnectionEnded as error:
        message, _, hint = str(error).partition("; ")
        raise Unavailable(message, hint=hint, code="connection_ended") from None


def _build_result(response: dict[str, Any]) -> Result:
    """Return the result of a call like `App.call`. Raises the error that it contains."""
    data = response.get("structuredContent") or {}
    if response.get("isError") and isinstance(data.get("error"), dict):
        facts = data["error"] | (response.get("_meta") or {}).get(ERROR_META_KEY, {})
        kinds = {each.kind: each for each in (InvalidInput, NotConfigured, NotFound, Refused, Unavailable)}
        error_fields = {name: facts[name] for name in ("hint", "code", "details", "retry_after") if name in facts}
        raise kinds.get(facts.get("kind", ""), OutriderError)(facts["message"], **error_fields)
    content = tuple(_build_block(item) for item in response["content"])
    return Result(content, data, response.get("_meta") or {}, bool(response.get("isError")))


def _build_block(item: dict[str, Any]) -> ResultBlock:
    match item["type"]:
        case "image":
            return ImageBlock(base64.b64decode(item["data"]), item["mimeType"])
        case "resource_link":
            return LinkBlock(item["uri"], item["name"], item.get("mimeType", ""), item.get("size"))
        case "resource":
            fields = dict(item["resource"])
            uri, mime_type, text = fields.pop("uri"), fields.pop("mimeType", ""), fields.pop("text", "")
            return ResourceBlock(uri, mime_type, text, meta=fields.pop("_meta", None) or {}, fields=fields)
        case _:
            return TextBlock(item.get("text", ""), item.get("_meta") or {})


def _describe_tools(response: dict[str, Any]) -> list[ToolDescription]:
    return [
        ToolDescription(
            each["name"],
            each.get("title", ""),
            each.get("description", ""),
            each["inputSchema"],
            each.get("outputSchema"),
            each.get("annotations", {}).get("readOnlyHint", False),
        )
        for each in response["tools"]
    ]


def _decode_contents(response: dict[str, Any]) -> bytes:
    contents = response["contents"][0]
    return base64.b64decode(contents["blob"]) if "blob" in contents else contents["text"].encode()
