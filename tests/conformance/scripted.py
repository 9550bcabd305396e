"""Tools that ask the client in ways that Outrider does not: forms of several fields, its model, its roots.

They run on the same server as our tools, so that the suite also checks the rest of the protocol layer:
transport, versions, encryption of request state, questions over the connection.
"""

import base64
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolRequestParams,
    CallToolResult,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingCapability,
    SamplingMessage,
    TextContent,
)

SAMPLING_CAPABILITY = ClientCapabilities(sampling=SamplingCapability())
RequestContext = ServerRequestContext[Any, Any]
ToolAnswer = CallToolResult | InputRequiredResult
ExtraTool = Callable[[RequestContext, CallToolRequestParams], Awaitable[ToolAnswer]]
SILENT_WAV_BASE64 = base64.b64encode(
    b"RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    b"data\x02\x00\x00\x00\x00\x00"
).decode()
EXTRA_TOOLS: dict[str, ExtraTool] = {}
SUBSCRIPTION_BUS = InMemorySubscriptionBus()


def register_tool(*names: str) -> Callable[[ExtraTool], ExtraTool]:
    """Offer the function under these names, each with the suite's prefix `test_`."""

    def register_function(function: ExtraTool) -> ExtraTool:
        EXTRA_TOOLS.update({f"test_{name}": function for name in names})
        return function

    return register_function


def build_text_result(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


def build_form(message: str, **fields: dict[str, Any]) -> ElicitRequest:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def build_sampling_request(text: str, max_tokens: int = 100) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def request_input(requests: dict[str, Any], state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def get_accepted_content(params: CallToolRequestParams | GetPromptRequestParams, key: str) -> dict[str, Any] | None:
    """The value that a person entered for that key."""
    answer = (params.input_responses or {}).get(key)
    return answer.content if isinstance(answer, ElicitResult) and answer.action == "accept" else None


TEXT_SCHEMA = {"type": "string"}
NAME_FORM = {"user_name": build_form("What is your name?", name=TEXT_SCHEMA)}


@register_tool("audio_content")
async def return_audio(_: RequestContext, __: CallToolRequestParams) -> ToolAnswer:
    return CallToolResult(content=[AudioContent(data=SILENT_WAV_BASE64, mime_type="audio/wav")])


@register_tool("missing_capability")
async def require_sampling(context: RequestContext, _: CallToolRequestParams) -> ToolAnswer:
    if not context.session.check_client_capability(SAMPLING_CAPABILITY):
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs sampling", needed)
    return build_text_result("sampling is declared")


@register_tool("input_required_result_elicitation", "streaming_elicitation")
async def elicit_name(_: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
    given = get_accepted_content(params, "user_name")
    return (
        build_text_result(f"Hello, {given['name']}!")
        if given and isinstance(given.get("name"), str)
        else request_input(NAME_FORM)
    )


@register_tool("input_required_result_sampling")
async def request_sampling(_: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
    answer = (params.input_responses or {}).get("capital_question")
    if answer is None:
        return request_input({"capital_question": build_sampling_request("What is the capital of France?")})
    return build_text_result(f"The model said: {answer}")


@register_tool("input_required_result_list_roots")
async def request_roots(_: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
    answer = (params.input_responses or {}).get("client_roots")
    return (
        request_input({"client_roots": ListRootsRequest()})
        if answer is None
        else build_text_result(f"The roots are {answer}")
    )


@register_tool("input_required_result_request_state", "input_required_result_tampered_state")
async def check_request_state(_: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
    if params.request_state == "waits" and get_accepted_content(params, "confirm"):
        return build_text_result("state-ok")
    return request_input({"confirm": build_form("Please confirm", ok={"type": "boolean"})}, "waits")


@register_tool("input_required_result_multiple_inputs")
async def request_multiple_inputs(_: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
    wanted = NAME_FORM | {
        "greeting": build_sampling_request("Generate a greeting", 50),
        "client_roots": ListRootsRequest(),
    }
    complete = params.request_state and set(wanted) <= set(params.input_responses or {})
    return build_text_result("all answered") if complete else request_input(wanted, "waits for all")


@register_tool("input_required_result_multi_round")
async def request_two_rounds(_: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
    if params.request_state == "second" and get_accepted_content(params, "step2"):
        return build_text_result("both steps done")
    if params.request_state == "first" and get_accepted_content(params, "step1"):
        return request_input({"step2": build_form("Step 2: What is your favorite color?", color=TEXT_SCHEMA)}, "second")
    return request_input({"step1": build_form("Step 1: What is your name?", name=TEXT_SCHEMA)}, "first")


@register_tool("input_required_result_capabilities")
async def request_by_capability(context: RequestContext, _: CallToolRequestParams) -> ToolAnswer:
    """Ask only for capabilities that the client has declared."""
    able = context.session.check_client_capability(SAMPLING_CAPABILITY)
    return request_input({"opinion": build_sampling_request("What do you think?")} if able else NAME_FORM)


@register_tool("elicitation")
async def elicit_user(context: RequestContext, params: CallToolRequestParams) -> ToolAnswer:
    fields = {"username": TEXT_SCHEMA, "email": TEXT_SCHEMA}
    return await _elicit_fields(context, str((params.arguments or {}).get("message", "")), fields, "User response")


@register_tool("elicitation_sep1034_defaults")
async def elicit_defaults(context: RequestContext, _: CallToolRequestParams) -> ToolAnswer:
    states = ["active", "inactive", "pending"]
    fields = {
        "name": TEXT_SCHEMA | {"default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": TEXT_SCHEMA | {"enum": states, "default": states[0]},
        "verified": {"type": "boolean", "default": True},
    }
    return await _elicit_fields(context, "Who are you?", fields, "Elicitation completed")


@register_tool("elicitation_sep1330_enums")
async def elicit_enums(context: RequestContext, _: CallToolRequestParams) -> ToolAnswer:
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
    fields = {
        "untitledSingle": TEXT_SCHEMA | {"enum": options},
        "titledSingle": TEXT_SCHEMA | {"oneOf": titled},
        "legacyEnum": TEXT_SCHEMA | {"enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": TEXT_SCHEMA | {"enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _elicit_fields(context, "Choose", fields, "Elicitation completed")


async def _elicit_fields(context: RequestContext, message: str, fields: dict[str, Any], prefix: str) -> ToolAnswer:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    answer = await context.session.elicit_form(message, schema, context.request_id)
    return build_text_result(f"{prefix}: action={answer.action}, content={answer.content}")


@register_tool("trigger_tool_change")
async def publish_tool_change(_: RequestContext, __: CallToolRequestParams) -> ToolAnswer:
    await SUBSCRIPTION_BUS.publish(ToolsListChanged())
    return build_text_result("told")


@register_tool("trigger_prompt_change")
async def publish_prompt_change(_: RequestContext, __: CallToolRequestParams) -> ToolAnswer:
    await SUBSCRIPTION_BUS.publish(PromptsListChanged())
    return build_text_result("told")
