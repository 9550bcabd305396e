"""One MCP server over a toolbox: the low-level server of the SDK, for every protocol version it speaks."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from mcp.server import Server, ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
)

from outrider import __version__
from outrider.core.artifacts import Artifact, Artifacts
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotFound, OutriderError
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve import content, names, questions
from outrider.serve.context import call_of

log = logging.getLogger(__name__)
TOOLS_FRESH_MS = 60_000  # how long a client may keep the tool list without asking again


class Edge:
    """The handlers of one server."""

    def __init__(self, toolbox: Toolbox, artifacts: Artifacts, style: names.Style, session: str) -> None:
        self._toolbox = toolbox
        self._artifacts = artifacts
        self._style = style
        self._session = session

    async def list_tools(self, _: ServerRequestContext[Any, Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        tools = self._toolbox.tools.values()
        return ListToolsResult(tools=[content.tool_entry(tool, names.exposed(tool, self._style)) for tool in tools])

    async def call_tool(
        self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        tool = self._tool(params.name)
        call = questions.resumed(call_of(context, session=self._session), params)
        try:
            return await self._answer(context, tool, params.arguments, call)
        except OutriderError as error:
            return content.failure(error)
        except Exception:
            incident = uuid4().hex[:8]
            log.exception("bug in %s (incident %s)", tool.name, incident)
            return content.bug(tool.name, incident)

    async def list_resources(
        self, _: ServerRequestContext[Any, Any], __: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        try:
            kept = await self._artifacts.recent()
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message) from error
        return ListResourcesResult(
            resources=[
                Resource(uri=each.uri, name=each.name, mime_type=each.mime_type, size=each.size) for each in kept
            ]
        )

    async def read_resource(
        self, _: ServerRequestContext[Any, Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        try:
            kept, data = await self._artifacts.read(str(params.uri))
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message, data={"uri": str(params.uri)}) from error
        return ReadResourceResult(
            contents=[BlobResourceContents(uri=kept.uri, mime_type=kept.mime_type, blob=content.encoded(data))]
        )

    def _tool(self, name: str) -> Tool:
        try:
            return self._toolbox.get(names.bare(name))
        except NotFound as error:
            raise MCPError(code=INVALID_PARAMS, message=f"{error.message}; {error.hint}") from None

    async def _answer(
        self, context: ServerRequestContext[Any, Any], tool: Tool, arguments: dict[str, Any] | None, call: Call
    ) -> CallToolResult | InputRequiredResult:
        try:
            return content.success(await self._toolbox.call(tool.name, arguments, call), tool)
        except AnswerNeeded as question:
            if context.protocol_version >= questions.QUESTIONS_AS_RESULTS:
                return questions.as_result(question)
            answer = await questions.ask(context, question)
            again = replace(call, answer=answer, state=question.state)
            return content.success(await self._toolbox.call(tool.name, arguments, again), tool)


def mcp_server(
    toolbox: Toolbox,
    artifacts: Artifacts,
    *,
    name: str = "outrider",
    style: names.Style = "bare",
    session: str = "default",
) -> Server[Any]:
    """A server over the tools of `toolbox`.

    Args:
        toolbox: The tools to serve; `toolbox.only(name)` for one toolset alone.
        artifacts: What `resources/list` and `resources/read` show.
        name: The server's name, which hosts put before tool names (`mcp__<name>__web_search`).
        style: How tools are named.
        session: The session of callers that name none.
    """
    edge = Edge(toolbox, artifacts, style, session)
    server: Server[Any] = Server(
        name,
        version=__version__,
        title="Outrider",
        instructions=_instructions(toolbox),
        cache_hints={"tools/list": CacheHint(ttl_ms=TOOLS_FRESH_MS, scope="private")},
        on_list_tools=edge.list_tools,
        on_call_tool=edge.call_tool,
        on_list_resources=edge.list_resources,
        on_read_resource=edge.read_resource,
        on_subscriptions_listen=ListenHandler(InMemorySubscriptionBus()),
    )
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=name))
    server.middleware.append(_lift)
    return server


async def _lift(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    result = await call_next(ctx)
    if ctx.method == "tools/call" and isinstance(result, dict):
        return content.lift_fields(result)
    return result


def _listed(kept: Artifact) -> Resource:
    return Resource(uri=kept.uri, name=kept.name, mime_type=kept.mime_type, size=kept.size)


def _instructions(toolbox: Toolbox) -> str:
    """What the offered toolsets say of themselves."""
    used = {tool.toolset for tool in toolbox.tools.values()}
    parts: Sequence[str] = [each.instructions for each in toolbox.toolsets.values() if each.name in used]
    return "\n\n".join(parts)
