"""Build an MCP server over a toolbox, for every protocol version."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
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
    NotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)
from pydantic_core import to_json

from outrider import __version__
from outrider.core import approval_required
from outrider.core.arguments import RAW_ARGUMENT, parse_arguments
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound, OutriderError, shorten_error
from outrider.core.result import Result
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve import elicitation, lean, prompts, protocol_results, tool_names
from outrider.serve.context import SWITCH_CONTEXT_METHOD, CallDefaults, ConnectionContexts, SwitchContextParams
from outrider.serve.instructions import build_instructions
from outrider.serve.list_changes import ListChangeNotifier
from outrider.serve.protocol_results import FIELDS_META_KEY
from outrider.serve.surrogates import replace_surrogates

if TYPE_CHECKING:
    from outrider.serve.roots import HostRoots

log = logging.getLogger(__name__)
TextResources = Mapping[str, Callable[[str, Call], Awaitable[str]]]


class McpHandlers:
    """The request handlers of one server."""

    def __init__(  # noqa: PLR0913 - `build_mcp_server` names them all once
        self,
        toolbox: Toolbox,
        artifacts: ArtifactStore,
        *,
        style: tool_names.NameStyle,
        contexts: ConnectionContexts,
        approvals: "ApprovalResponder",
        list_changes: ListChangeNotifier,
        text_resources: "TextResources",
        roots: "HostRoots | None",
        is_lean: bool,
    ) -> None:
        self._toolbox = toolbox
        self._artifacts = artifacts
        self._style = style
        self._contexts = contexts
        self._approvals = approvals
        self._list_changes = list_changes
        self._text_resources = text_resources
        self._roots = roots
        self._is_lean = is_lean

    async def list_tools(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        if self._is_lean:
            return ListToolsResult(tools=lean.build_lean_entries())
        await self._toolbox.refresh_tools()
        await self._list_changes.record_tools_listed(context)
        tools = self._filter_toolbox(self._build_call(context)).list_tools()
        return ListToolsResult(
            tools=[
                protocol_results.build_tool_entry(tool, tool_names.format_tool_name(tool, self._style))
                for tool in tools
            ]
        )

    def find_input_schema(self, name: str) -> dict[str, Any] | None:
        """Return the schema by which the SDK checks a call's `Mcp-Param-*` headers.

        Without this the SDK lists all tools before each call over HTTP.
        """
        bare = name.partition("__")[2] if name.startswith(tool_names.BUILTIN_PREFIX) else name
        tool = None if self._is_lean else self._toolbox.tools.get(bare)
        return tool.input_schema if tool else None

    async def call_tool(
        self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        if self._is_lean and params.name == lean.FIND_TOOLS:
            await self._toolbox.refresh_tools()
            query = str((params.arguments or {}).get("query") or "")
            return lean.find_tools(self._filter_toolbox(self._build_call(context)), query)
        tool = self._toolbox.tools.get(params.name) or await self._find_tool(params.name)
        try:
            call, has_form = self._contexts.build_call(context), False
            if params.request_state is not None:  # a call that the client repeats
                call, has_form = elicitation.resume_call(call, params)
            if self._roots and (roots_question := await self._roots.read_roots(context, call, params)):
                return roots_question
            dismissed = has_form and not call.answers and call.answer is None
            return await self._answer_call(context, tool, params.arguments, call, dismissed=dismissed)
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
            artifacts = await self._artifacts.list_recent(session=call.session, workspace=call.workspace)
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message) from error
        resources = prompts.list_context_resources(self._filter_toolbox(call))
        resources += [
            Resource(uri=artifact.uri, name=artifact.name, mime_type=artifact.mime_type, size=artifact.size)
            for artifact in artifacts
        ]
        return ListResourcesResult(resources=resources)

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
            artifact, data = await self._artifacts.read(uri, call.workspace)
        except OutriderError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message, data={"uri": str(params.uri)}) from error
        blob = protocol_results.encode_base64(data)
        return ReadResourceResult(
            contents=[BlobResourceContents(uri=artifact.uri, mime_type=artifact.mime_type, blob=blob)]
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
        """Build a request's call. Raises MCPError, for requests whose results cannot report an error."""
        try:
            return self._contexts.build_call(context)
        except OutriderError as error:
            raise prompts.to_mcp_error(error) from error

    def _filter_toolbox(self, call: Call) -> Toolbox:
        """Return the tools that the caller may use."""
        return self._toolbox.apply_grant(call.grant)

    async def _find_tool(self, name: str) -> Tool:
        try:
            return await tool_names.resolve_tool(name, self._toolbox)
        except NotFound as error:
            error = shorten_error(error)
            if self._is_lean:
                error.hint = f"{lean.FIND_TOOLS} shows the names; {lean.CALL_TOOL} takes name and arguments"
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
        """Call the tool and ask the questions that it raises; return its result or the open question.

        `dismissed`: the person has closed the form of this call without an answer.
        """
        max_forms = 20  # of one call; questions beyond it wait for the next call
        for _ in range(max_forms):
            try:
                return protocol_results.to_call_result(await self._toolbox.call(tool.name, arguments, call), tool)
            except AnswerNeeded as question:
                needed = question
            runs_wait = bool(needed.questions)
            if runs_wait and (dismissed or not elicitation.can_ask(context)):
                break
            if dismissed:
                raise elicitation.build_dismissed_error(needed)
            if elicitation.can_return_questions(context) and elicitation.can_ask(context):
                return elicitation.build_input_required(needed)
            call = await elicitation.ask_client(context, call, needed)
            dismissed = runs_wait and not call.answers
        return protocol_results.to_call_result(self._approvals.build_result(needed), tool)


@dataclass(frozen=True)
class ApprovalResponder:
    """Builds the results of calls that wait for people.

    Attributes:
        security: Encrypts the state that the client sends with its next call; None uses a key of this process only.
        blocked_format: The result for clients that cannot show questions.
        mime_prefix: The vendor tree of typed resources.
        dashboard_url: Returns the dashboard's address with a final slash and without a token; empty if there is none.
    """

    security: RequestStateSecurity | None = None
    blocked_format: approval_required.ApprovalFormat = "error_json"
    mime_prefix: str = "application/vnd.dust"
    dashboard_url: Callable[[], str] = lambda: ""

    def build_result(self, question: AnswerNeeded) -> Result:
        """Build the result of a call that waits for people."""
        mime_type = f"{self.mime_prefix}.tool-output.{approval_required.PAUSE_MIME_SUFFIX}"
        url = self.dashboard_url()
        return approval_required.build_approval_result(
            question.questions,
            question.details,
            result_format=self.blocked_format,
            mime_type=mime_type,
            answer_url=f"{url}questions/" if url else "",
        )

    def add_dashboard_hint(self, error: OutriderError) -> OutriderError:
        """Add to the hint how a person can help in the dashboard, if they can."""
        if error.code == "no_display" and (url := self.dashboard_url()):
            remedy = f"open the site in a session, let the user sign in at {url}live, then save it with manageStates"
            error.hint = f"{error.hint}; or {remedy}"
        if error.code == "consent_needed" and "runId" in error.details and (url := self.dashboard_url()):
            error.hint = f"{error.hint}. On the dashboard: {url}flows/runs/{error.details['runId']}"
        return error


class OutriderMcpServer(Server[Any]):
    """The SDK's server, which announces whether its lists may change."""

    tools_change = prompts_change = False

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **options: Any
    ) -> InitializationOptions:
        """Add `listChanged` for older clients to the SDK's options."""
        notification_options = notification_options or NotificationOptions(
            tools_changed=self.tools_change, prompts_changed=self.prompts_change
        )
        return super().create_initialization_options(notification_options, *args, **options)


def build_mcp_server(  # noqa: PLR0913 - an app names them all once
    toolbox: Toolbox,
    artifacts: ArtifactStore,
    *,
    name: str = "outrider",
    style: tool_names.NameStyle = "bare",
    session: str = "default",
    assistant: str = "",
    approvals: ApprovalResponder | None = None,
    text_resources: TextResources | None = None,
    roots: "HostRoots | None" = None,
    is_lean: bool = False,
) -> Server[Any]:
    """Build a server for the tools of `toolbox`.

    Args:
        toolbox: The tools to serve; `toolbox.select_toolset(name)` for one toolset alone.
        artifacts: The files of `resources/list` and `resources/read`.
        name: The server's name, which hosts put before tool names (`mcp__<name>__web_search`).
        style: The style of tool names.
        session: The session of callers that name none.
        assistant: The assistant of callers that name none; empty means none.
        approvals: Builds the results of calls that wait for people.
        text_resources: Readers of further resources by the beginning of their addresses.
        roots: Asks hosts for the folders that they offer; None asks no host.
        is_lean: Whether to list two tools that find and call all others.
    """
    approvals = approvals or ApprovalResponder()
    list_changes, contexts = ListChangeNotifier(toolbox), ConnectionContexts(CallDefaults(session, assistant))
    handlers = McpHandlers(
        toolbox,
        artifacts,
        style=style,
        contexts=contexts,
        approvals=approvals,
        list_changes=list_changes,
        text_resources=text_resources or {},
        roots=roots,
        is_lean=is_lean,
    )
    instructions = lean.build_lean_instructions(toolbox) if is_lean else build_instructions(toolbox)
    server = _build_server(name, toolbox, handlers, list_changes, instructions)
    server.tools_change, server.prompts_change = toolbox.changes, list_changes.prompts_change
    server.add_request_handler(SWITCH_CONTEXT_METHOD, SwitchContextParams, contexts.switch_context)
    if roots:
        server.add_notification_handler("notifications/roots/list_changed", NotificationParams, roots.forget_roots)
    security = approvals.security or RequestStateSecurity.ephemeral()
    server.middleware += [
        adapt_result,
        parse_text_arguments,
        *((lean.unwrap_lean_call, parse_text_arguments) if is_lean else ()),
        RequestStateBoundary(security, default_audience=name),
    ]
    return server


def _build_server(
    name: str, toolbox: Toolbox, handlers: McpHandlers, list_changes: ListChangeNotifier, instructions: str
) -> OutriderMcpServer:
    tools_ttl_ms = 60_000
    single_toolset = next(iter(toolbox.toolsets.values())) if len(toolbox.toolsets) == 1 else None
    return OutriderMcpServer(
        name,
        version=__version__,
        title=single_toolset.display_name if single_toolset and single_toolset.display_name else "Outrider",
        description=single_toolset.record.description or None if single_toolset else None,
        instructions=instructions,
        cache_hints={"tools/list": CacheHint(ttl_ms=tools_ttl_ms, scope="private")},
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        get_tool_input_schema=handlers.find_input_schema,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_subscriptions_listen=ListenHandler(list_changes.bus),
        lifespan=list_changes.lifespan,
    )


async def parse_text_arguments(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Parse a tool call's arguments into an object; the SDK would refuse them without a reason."""
    arguments = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and arguments is not None and not isinstance(arguments, dict):
        try:
            parsed = parse_arguments(arguments)
        except InvalidInput:
            # Every tool refuses this name and explains the problem.
            parsed = {RAW_ARGUMENT: arguments if isinstance(arguments, str) else json.dumps(arguments)}
        ctx = replace(ctx, params={**(ctx.params or {}), "arguments": parsed})
    return await call_next(ctx)


async def adapt_result(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Put a resource's own fields where clients look for them, replace lone surrogates, and explain refused state."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        code, message, data = error.error.code, error.error.message, error.error.data
        if isinstance(data, dict) and data.get("reason") == "invalid_request_state":
            message = (  # only the log has the exact reason
                "Invalid or expired requestState: it was changed, is too old, or belongs to another caller, "
                "conversation, tool or arguments. Call the tool again without requestState to be asked again"
            )
        raise MCPError(code=code, message=replace_surrogates(message), data=replace_surrogates(data)) from error
    if ctx.method == "tools/call" and isinstance(result, dict):
        for item in result.get("content", []):
            resource = item.get("resource", {}) if isinstance(item, dict) else {}
            # The SDK drops fields that the protocol does not define, so they are in `_meta` until here. They stay
            # there too, because typed clients would drop the copies.
            fields = (resource.get("_meta") or {}).get(FIELDS_META_KEY, {})
            resource.update({name: value for name, value in fields.items() if name not in resource})
    try:
        to_json(result)  # nearly all results can be encoded, and this test is cheap
    except (ValueError, RecursionError):
        return replace_surrogates(result)
    return result
