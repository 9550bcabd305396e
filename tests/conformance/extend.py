"""Add handlers that the suite needs and Outrider does not have."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server import Server
from mcp.server.subscriptions import ListenHandler
from mcp_types import (
    CallToolRequestParams,
    CompleteRequestParams,
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
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    Tool,
    UnsubscribeRequestParams,
)

from .prompts import PROMPTS, complete_argument, get_prompt, list_extra_prompts
from .resources import STATIC_RESOURCES, accept_subscription, list_templates
from .scripted import EXTRA_TOOLS, SUBSCRIPTION_BUS, RequestContext, ToolAnswer

OWN_METHODS = ("tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get")


def extend_server(server: Server[Any]) -> Server[Any]:
    """Our server with these additional handlers."""
    ours = {method: _get_own_handler(server, method) for method in OWN_METHODS}

    async def list_tools(context: RequestContext, params: PaginatedRequestParams | None) -> ListToolsResult:
        own = await ours["tools/list"](context, params)
        schema = {"type": "object", "properties": {}}
        own.tools.extend(Tool(name=name, description=name, input_schema=schema) for name in EXTRA_TOOLS)
        return own

    async def call_tool(context: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
        return await EXTRA_TOOLS.get(params.name, ours["tools/call"])(context, params)

    async def list_resources(context: RequestContext, params: PaginatedRequestParams | None) -> ListResourcesResult:
        own = await ours["resources/list"](context, params)
        own.resources.extend(
            Resource(uri=uri, name=uri, mime_type=kept.mime_type) for uri, kept in STATIC_RESOURCES.items()
        )
        return own

    async def read_resource(context: RequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
        kept = STATIC_RESOURCES.get(str(params.uri))
        return ReadResourceResult(contents=[kept]) if kept else await ours["resources/read"](context, params)

    async def list_prompts(context: RequestContext, params: PaginatedRequestParams | None) -> ListPromptsResult:
        own = await ours["prompts/list"](context, params)
        own.prompts.extend(list_extra_prompts())
        return own

    async def get_named_prompt(
        context: RequestContext, params: GetPromptRequestParams
    ) -> GetPromptResult | InputRequiredResult:
        return await (get_prompt if params.name in PROMPTS else ours["prompts/get"])(context, params)

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, accept_subscription)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accept_subscription)
    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_named_prompt)
    server.add_request_handler("completion/complete", CompleteRequestParams, complete_argument)
    server.add_request_handler(
        "subscriptions/listen", SubscriptionsListenRequestParams, ListenHandler(SUBSCRIPTION_BUS)
    )
    return server


def _get_own_handler(server: Server[Any], method: str) -> Callable[..., Awaitable[Any]]:
    entry = server.get_request_handler(method)
    assert entry is not None
    return entry.handler
