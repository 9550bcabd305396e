"""One MCP server over a toolbox: the low-level server of the SDK, for every protocol version it speaks."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from outrider import __version__
from outrider.core import blocked
from outrider.core.artifacts import Artifacts
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotFound, OutriderError
from outrider.core.result import Result
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve import arguments, content, letters, names, prompts, questions, seal
from outrider.serve.context import Defaults
from outrider.serve.switch import METHOD, Contexts, SwitchParams
from outrider.serve.watch import Watch

log = logging.getLogger(__name__)
Texts = Mapping[str, Callable[[str, Call], Awaitable[str]]]
TOOLS_FRESH_MS = 60_000  # how long a client may keep the tool list without asking again
BY_A_PERSON = {  # codes of errors to what a person can do in the dashboard
    "no_display": "open the site in a session, let the user sign in at {place}live, then keep it with manageStates",
}
MOST_FORMS = 20  # forms that one call shows over a connection, before what is left waits for the next call


class Edge:
    """The handlers of one server."""

    def __init__(
        self,
        toolbox: Toolbox,
        artifacts: Artifacts,
        *,
        style: names.Style,
        contexts: Contexts,
        pause: "Pause",
        watch: Watch,
        texts: "Texts",
    ) -> None:
        self._toolbox = toolbox
        self._artifacts = artifacts
        self._style = style
        self._contexts = contexts
        self._pause = pause
        self._watch = watch
        self._texts = texts

    async def list_tools(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        await self._toolbox.refresh()
        await self._watch.listed_tools(context)
        tools = self._seen(self._call(context)).tools.values()
        return ListToolsResult(tools=[content.tool_entry(tool, names.exposed(tool, self._style)) for tool in tools])

    async def call_tool(
        self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        tool = await self._tool(params.name)
        try:
            call, shown = questions.resumed(self._contexts.call(context), params)
            return await self._answer(context, tool, params.arguments, call, dismissed=shown and not call.answers)
        except OutriderError as error:
            return content.failure(self._pause.with_person(error))
        except Exception:
            incident = uuid4().hex[:8]
            log.exception("bug in %s (incident %s)", tool.name, incident)
            return content.bug(tool.name, incident)

    async def list_resources(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        try:
            call = self._contexts.call(context)
            kept = await self._artifacts.recent(session=call.session, workspace=call.workspace)
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message) from error
        return ListResourcesResult(
            resources=[
                *prompts.resources(self._seen(call)),
                *(Resource(uri=each.uri, name=each.name, mime_type=each.mime_type, size=each.size) for each in kept),
            ]
        )

    async def read_resource(
        self, context: ServerRequestContext[Any, Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        try:
            call = self._contexts.call(context)
            if uri.startswith(prompts.SCHEME):
                server = uri.removeprefix(prompts.SCHEME).rstrip("/")
                return await prompts.read(self._seen(call), server, uri, call)
            for scheme, reader in self._texts.items():
                if uri.startswith(scheme):
                    text = await reader(uri.removeprefix(scheme), call)
                    return ReadResourceResult(
                        contents=[TextResourceContents(uri=uri, mime_type="text/markdown", text=text)]
                    )
            kept, data = await self._artifacts.read(uri, call.workspace)
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message, data={"uri": str(params.uri)}) from error
        return ReadResourceResult(
            contents=[BlobResourceContents(uri=kept.uri, mime_type=kept.mime_type, blob=content.encoded(data))]
        )

    async def list_prompts(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        try:
            await self._watch.listed_prompts(context)
            call = self._contexts.call(context)
            return await prompts.listed(self._seen(call), call)
        except OutriderError as error:
            raise prompts.in_words(error) from error

    async def get_prompt(
        self, context: ServerRequestContext[Any, Any], params: GetPromptRequestParams
    ) -> GetPromptResult:
        try:
            call = self._contexts.call(context)
            return await prompts.got(self._seen(call), params.name, params.arguments or {}, call)
        except OutriderError as error:
            raise prompts.in_words(error) from error

    def _call(self, context: ServerRequestContext[Any, Any]) -> Call:
        """The call that a request makes, where the protocol has no results that say why there is none."""
        try:
            return self._contexts.call(context)
        except OutriderError as error:
            raise prompts.in_words(error) from error

    def _seen(self, call: Call) -> Toolbox:
        """What the caller may know of."""
        return self._toolbox.granted(call.grant)

    async def _tool(self, name: str) -> Tool:
        try:
            return await names.resolved(name, self._toolbox)
        except NotFound as error:
            raise MCPError(code=INVALID_PARAMS, message=f"{error.message}; {error.hint}") from None

    async def _answer(
        self,
        context: ServerRequestContext[Any, Any],
        tool: Tool,
        arguments: dict[str, Any] | None,
        call: Call,
        *,
        dismissed: bool,
    ) -> CallToolResult | InputRequiredResult:
        """The tool's answer, or the question that is in the way of it."""
        for _ in range(MOST_FORMS):
            try:
                return content.success(await self._toolbox.call(tool.name, arguments, call), tool)
            except AnswerNeeded as question:
                asked = question
            waits = bool(asked.questions)
            if waits and (dismissed or not questions.can_ask(context)):
                break
            if questions.as_results(context) and questions.can_ask(context):
                return questions.as_result(asked)
            call = await questions.ask(context, call, asked)
            dismissed = waits and not call.answers
        return content.success(self._pause.result(asked), tool)


@dataclass(frozen=True)
class Pause:
    """How the edge says that a call waits for people.

    Attributes:
        security: Seals what the client carries to the next call; None under a key of this process alone.
        form: The result for clients that cannot show questions.
        mime_prefix: The vendor tree of typed resources.
        place: Where the dashboard is, with a final slash and without a token; empty while there is none.
    """

    security: RequestStateSecurity | None = None
    form: blocked.Format = "error_json"
    mime_prefix: str = "application/vnd.dust"
    place: Callable[[], str] = lambda: ""

    def result(self, question: AnswerNeeded) -> Result:
        """The blocked result."""
        kind = f"{self.mime_prefix}.tool-output.{blocked.PAUSE}"
        there = f"{place}questions/" if (place := self.place()) else ""
        return blocked.written(question.questions, question.details, form=self.form, mime_type=kind, place=there)

    def with_person(self, error: OutriderError) -> OutriderError:
        """The error; where a person could help in the dashboard, its hint says so."""
        if error.code in BY_A_PERSON and (place := self.place()):
            error.hint = f"{error.hint}; or {BY_A_PERSON[error.code].format(place=place)}"
        return error

    def sealed(self) -> RequestStateSecurity:
        """The sealing to install."""
        return self.security or RequestStateSecurity.ephemeral()


class McpServer(Server[Any]):
    """The SDK's server, which says by itself that its tools come and go."""

    tools_change = prompts_change = False

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **more: Any
    ) -> InitializationOptions:
        """As the SDK's, with `listChanged` for older clients where it is true."""
        options = notification_options or NotificationOptions(
            tools_changed=self.tools_change, prompts_changed=self.prompts_change
        )
        return super().create_initialization_options(options, *args, **more)


def mcp_server(
    toolbox: Toolbox,
    artifacts: Artifacts,
    *,
    name: str = "outrider",
    style: names.Style = "bare",
    session: str = "default",
    assistant: str = "",
    pause: Pause | None = None,
    texts: Texts | None = None,
) -> Server[Any]:
    """A server over the tools of `toolbox`.

    Args:
        toolbox: The tools to serve; `toolbox.only(name)` for one toolset alone.
        artifacts: What `resources/list` and `resources/read` show.
        name: The server's name, which hosts put before tool names (`mcp__<name>__web_search`).
        style: How tools are named.
        session: The session of callers that name none.
        assistant: The assistant of callers that name none; empty means none.
        pause: How paused calls are kept and told.
        texts: Further resources: the beginning of their addresses, and what reads the rest for a caller.
    """
    pause, watch, contexts = pause or Pause(), Watch(toolbox), Contexts(Defaults(session, assistant))
    edge = Edge(toolbox, artifacts, style=style, contexts=contexts, pause=pause, watch=watch, texts=texts or {})
    server = _answering(name, toolbox, edge, watch)
    server.tools_change, server.prompts_change = toolbox.changes, watch.prompts_change
    server.add_request_handler(METHOD, SwitchParams, contexts.switch)
    boundary = RequestStateBoundary(pause.sealed(), default_audience=name)
    server.middleware += [letters.written, arguments.understood, seal.explain, boundary, _lift]
    return server


def _answering(name: str, toolbox: Toolbox, edge: Edge, watch: Watch) -> McpServer:
    """The SDK's server, with who answers which request."""
    return McpServer(
        name,
        version=__version__,
        title="Outrider",
        instructions=_instructions(toolbox),
        cache_hints={"tools/list": CacheHint(ttl_ms=TOOLS_FRESH_MS, scope="private")},
        on_list_tools=edge.list_tools,
        on_call_tool=edge.call_tool,
        on_list_resources=edge.list_resources,
        on_read_resource=edge.read_resource,
        on_list_prompts=edge.list_prompts,
        on_get_prompt=edge.get_prompt,
        on_subscriptions_listen=ListenHandler(watch.bus),
        lifespan=watch.lifespan,
    )


async def _lift(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    result = await call_next(ctx)
    if ctx.method == "tools/call" and isinstance(result, dict):
        return content.lift_fields(result)
    return result


def _instructions(toolbox: Toolbox) -> str:
    """What the offered toolsets say of themselves."""
    used = {tool.toolset for tool in toolbox.tools.values()}
    used |= {toolset.name for toolset in toolbox.toolsets.values() if toolset.source}
    parts: Sequence[str] = [each.instructions for each in toolbox.toolsets.values() if each.name in used]
    return "\n\n".join(parts)
