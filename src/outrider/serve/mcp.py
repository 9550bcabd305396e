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
from outrider.core import approval_required
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotFound, OutriderError
from outrider.core.result import Result
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve import arguments, elicitation, prompts, protocol_results, state_encryption, surrogates, tool_names
from outrider.serve.context import CallDefaults
from outrider.serve.context_switch import SWITCH_CONTEXT_METHOD, ConnectionContexts, SwitchContextParams
from outrider.serve.list_changes import ListChangeNotifier

log = logging.getLogger(__name__)
TextResources = Mapping[str, Callable[[str, Call], Awaitable[str]]]


class McpHandlers:
    """The handlers of one server."""

    def __init__(
        self,
        toolbox: Toolbox,
        artifacts: ArtifactStore,
        *,
        style: tool_names.NameStyle,
        contexts: ConnectionContexts,
        pause: "ApprovalResponder",
        watch: ListChangeNotifier,
        texts: "TextResources",
    ) -> None:
        self._toolbox = toolbox
        self._artifacts = artifacts
        self._style = style
        self._contexts = contexts
        self._approvals = pause
        self._list_changes = watch
        self._text_resources = texts

    async def list_tools(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        await self._toolbox.refresh_tools()
        await self._list_changes.record_tools_listed(context)
        tools = self._filter_toolbox(self._build_call(context)).tools.values()
        return ListToolsResult(
            tools=[
                protocol_results.build_tool_entry(tool, tool_names.format_tool_name(tool, self._style))
                for tool in tools
            ]
        )

    async def call_tool(
        self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        tool = await self._find_tool(params.name)
        try:
            call, shown = elicitation.resume_call(self._contexts.build_call(context), params)
            return await self._answer_call(context, tool, params.arguments, call, dismissed=shown and not call.answers)
        except OutriderError as error:
            return protocol_results.to_error_result(self._approvals.add_dashboard_hint(error))
        except Exception:
            incident = uuid4().hex[:8]
            log.exception("bug in %s (incident %s)", tool.name, incident)
            return protocol_results.build_bug_result(tool.name, incident)

    async def list_resources(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        try:
            call = self._contexts.build_call(context)
            kept = await self._artifacts.list_recent(session=call.session, workspace=call.workspace)
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message) from error
        return ListResourcesResult(
            resources=[
                *prompts.list_context_resources(self._filter_toolbox(call)),
                *(Resource(uri=each.uri, name=each.name, mime_type=each.mime_type, size=each.size) for each in kept),
            ]
        )

    async def read_resource(
        self, context: ServerRequestContext[Any, Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        try:
            call = self._contexts.build_call(context)
            if uri.startswith(prompts.CONTEXT_SCHEME):
                server = uri.removeprefix(prompts.CONTEXT_SCHEME).rstrip("/")
                return await prompts.read_context(self._filter_toolbox(call), server, uri, call)
            for scheme, reader in self._text_resources.items():
                if uri.startswith(scheme):
                    text = await reader(uri.removeprefix(scheme), call)
                    return ReadResourceResult(
                        contents=[TextResourceContents(uri=uri, mime_type="text/markdown", text=text)]
                    )
            kept, data = await self._artifacts.read(uri, call.workspace)
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message, data={"uri": str(params.uri)}) from error
        return ReadResourceResult(
            contents=[
                BlobResourceContents(uri=kept.uri, mime_type=kept.mime_type, blob=protocol_results.encode_base64(data))
            ]
        )

    async def list_prompts(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        try:
            await self._list_changes.record_prompts_listed(context)
            call = self._contexts.build_call(context)
            return await prompts.list_prompts(self._filter_toolbox(call), call)
        except OutriderError as error:
            raise prompts.to_mcp_error(error) from error

    async def get_prompt(
        self, context: ServerRequestContext[Any, Any], params: GetPromptRequestParams
    ) -> GetPromptResult:
        try:
            call = self._contexts.build_call(context)
            return await prompts.get_prompt(self._filter_toolbox(call), params.name, params.arguments or {}, call)
        except OutriderError as error:
            raise prompts.to_mcp_error(error) from error

    def _build_call(self, context: ServerRequestContext[Any, Any]) -> Call:
        """The call that a request makes, where the protocol has no results that say why there is none."""
        try:
            return self._contexts.build_call(context)
        except OutriderError as error:
            raise prompts.to_mcp_error(error) from error

    def _filter_toolbox(self, call: Call) -> Toolbox:
        """What the caller may know of."""
        return self._toolbox.apply_grant(call.grant)

    async def _find_tool(self, name: str) -> Tool:
        try:
            return await tool_names.resolve_tool(name, self._toolbox)
        except NotFound as error:
            raise MCPError(code=INVALID_PARAMS, message=f"{error.message}; {error.hint}") from None

    async def _answer_call(
        self,
        context: ServerRequestContext[Any, Any],
        tool: Tool,
        arguments: dict[str, Any] | None,
        call: Call,
        *,
        dismissed: bool,
    ) -> CallToolResult | InputRequiredResult:
        """The tool's answer, or the question that is in the way of it."""
        max_forms = 20  # forms that one call shows over a connection, before what is left waits for the next call
        for _ in range(max_forms):
            try:
                return protocol_results.to_call_result(await self._toolbox.call(tool.name, arguments, call), tool)
            except AnswerNeeded as question:
                asked = question
            waits = bool(asked.questions)
            if waits and (dismissed or not elicitation.can_ask(context)):
                break
            if elicitation.can_return_questions(context) and elicitation.can_ask(context):
                return elicitation.build_input_required(asked)
            call = await elicitation.ask_client(context, call, asked)
            dismissed = waits and not call.answers
        return protocol_results.to_call_result(self._approvals.build_result(asked), tool)


@dataclass(frozen=True)
class ApprovalResponder:
    """How the edge says that a call waits for people.

    Attributes:
        security: Seals what the client carries to the next call; None under a key of this process alone.
        blocked_format: The result for clients that cannot show questions.
        mime_prefix: The vendor tree of typed resources.
        dashboard_url: Where the dashboard is, with a final slash and without a token; empty while there is none.
    """

    security: RequestStateSecurity | None = None
    blocked_format: approval_required.ApprovalFormat = "error_json"
    mime_prefix: str = "application/vnd.dust"
    dashboard_url: Callable[[], str] = lambda: ""

    def build_result(self, question: AnswerNeeded) -> Result:
        """The blocked result."""
        kind = f"{self.mime_prefix}.tool-output.{approval_required.PAUSE_MIME_SUFFIX}"
        there = f"{place}questions/" if (place := self.dashboard_url()) else ""
        return approval_required.build_approval_result(
            question.questions, question.details, result_format=self.blocked_format, mime_type=kind, answer_url=there
        )

    def add_dashboard_hint(self, error: OutriderError) -> OutriderError:
        """The error; where a person could help in the dashboard, its hint says so."""
        dashboard_hints = {  # codes of errors to what a person can do in the dashboard
            "no_display": "open the site in a session, let the user sign in at {place}live, then keep it with manageStates",
        }
        if error.code in dashboard_hints and (place := self.dashboard_url()):
            error.hint = f"{error.hint}; or {dashboard_hints[error.code].format(place=place)}"
        return error

    def build_security(self) -> RequestStateSecurity:
        """The sealing to install."""
        return self.security or RequestStateSecurity.ephemeral()


class OutriderMcpServer(Server[Any]):
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


def build_mcp_server(
    toolbox: Toolbox,
    artifacts: ArtifactStore,
    *,
    name: str = "outrider",
    style: tool_names.NameStyle = "bare",
    session: str = "default",
    assistant: str = "",
    pause: ApprovalResponder | None = None,
    texts: TextResources | None = None,
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
    pause, watch, contexts = (
        pause or ApprovalResponder(),
        ListChangeNotifier(toolbox),
        ConnectionContexts(CallDefaults(session, assistant)),
    )
    edge = McpHandlers(toolbox, artifacts, style=style, contexts=contexts, pause=pause, watch=watch, texts=texts or {})
    server = _build_server(name, toolbox, edge, watch)
    server.tools_change, server.prompts_change = toolbox.changes, watch.prompts_change
    server.add_request_handler(SWITCH_CONTEXT_METHOD, SwitchContextParams, contexts.switch_context)
    boundary = RequestStateBoundary(pause.build_security(), default_audience=name)
    server.middleware += [
        surrogates.replace_result_surrogates,
        arguments.parse_text_arguments,
        state_encryption.explain_state_error,
        boundary,
        _lift_result_fields,
    ]
    return server


def _build_server(name: str, toolbox: Toolbox, edge: McpHandlers, watch: ListChangeNotifier) -> OutriderMcpServer:
    """The SDK's server, with who answers which request."""
    tools_ttl_ms = 60_000  # how long a client may keep the tool list without asking again
    return OutriderMcpServer(
        name,
        version=__version__,
        title="Outrider",
        instructions=_join_instructions(toolbox),
        cache_hints={"tools/list": CacheHint(ttl_ms=tools_ttl_ms, scope="private")},
        on_list_tools=edge.list_tools,
        on_call_tool=edge.call_tool,
        on_list_resources=edge.list_resources,
        on_read_resource=edge.read_resource,
        on_list_prompts=edge.list_prompts,
        on_get_prompt=edge.get_prompt,
        on_subscriptions_listen=ListenHandler(watch.bus),
        lifespan=watch.lifespan,
    )


async def _lift_result_fields(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    result = await call_next(ctx)
    if ctx.method == "tools/call" and isinstance(result, dict):
        return protocol_results.lift_resource_fields(result)
    return result


def _join_instructions(toolbox: Toolbox) -> str:
    """What the offered toolsets say of themselves."""
    used = {tool.toolset for tool in toolbox.tools.values()}
    used |= {toolset.name for toolset in toolbox.toolsets.values() if toolset.tool_source}
    parts: Sequence[str] = [each.instructions for each in toolbox.toolsets.values() if each.name in used]
    return "\n\n".join(parts)
