"""Tools that ask the client in ways that Outrider does not: forms of several fields, its model, its roots.

They stand beside ours on the same server, so that the rest of the edge is judged with them:
transport, versions, sealing of request state, questions over the connection.
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

SAMPLING = ClientCapabilities(sampling=SamplingCapability())
Context = ServerRequestContext[Any, Any]
Answer = CallToolResult | InputRequiredResult
Extra = Callable[[Context, CallToolRequestParams], Awaitable[Answer]]
SILENCE = base64.b64encode(
    b"RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    b"data\x02\x00\x00\x00\x00\x00"
).decode()
EXTRAS: dict[str, Extra] = {}
BUS = InMemorySubscriptionBus()


def extra(*names: str) -> Callable[[Extra], Extra]:
    """Offers the function under these names, each behind the `test_` that the suite's names begin with."""

    def offer(function: Extra) -> Extra:
        EXTRAS.update({f"test_{name}": function for name in names})
        return function

    return offer


def said(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


def form(message: str, **fields: dict[str, Any]) -> ElicitRequest:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str, most: int = 100) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=most))


def asked(requests: dict[str, Any], state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def accepted(params: CallToolRequestParams | GetPromptRequestParams, key: str) -> dict[str, Any] | None:
    """What a person filled in under that key."""
    answer = (params.input_responses or {}).get(key)
    return answer.content if isinstance(answer, ElicitResult) and answer.action == "accept" else None


TEXT = {"type": "string"}
NAME = {"user_name": form("What is your name?", name=TEXT)}


@extra("audio_content")
async def audio_content(_: Context, __: CallToolRequestParams) -> Answer:
    return CallToolResult(content=[AudioContent(data=SILENCE, mime_type="audio/wav")])


@extra("missing_capability")
async def missing_capability(context: Context, _: CallToolRequestParams) -> Answer:
    if not context.session.check_client_capability(SAMPLING):
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this needs sampling", needed)
    return said("sampling is declared")


@extra("input_required_result_elicitation", "streaming_elicitation")
async def input_required_result_elicitation(_: Context, params: CallToolRequestParams) -> Answer:
    given = accepted(params, "user_name")
    return said(f"Hello, {given['name']}!") if given and isinstance(given.get("name"), str) else asked(NAME)


@extra("input_required_result_sampling")
async def input_required_result_sampling(_: Context, params: CallToolRequestParams) -> Answer:
    answer = (params.input_responses or {}).get("capital_question")
    if answer is None:
        return asked({"capital_question": sample("What is the capital of France?")})
    return said(f"The model said: {answer}")


@extra("input_required_result_list_roots")
async def input_required_result_list_roots(_: Context, params: CallToolRequestParams) -> Answer:
    answer = (params.input_responses or {}).get("client_roots")
    return asked({"client_roots": ListRootsRequest()}) if answer is None else said(f"The roots are {answer}")


@extra("input_required_result_request_state", "input_required_result_tampered_state")
async def input_required_result_state(_: Context, params: CallToolRequestParams) -> Answer:
    if params.request_state == "waits" and accepted(params, "confirm"):
        return said("state-ok")
    return asked({"confirm": form("Please confirm", ok={"type": "boolean"})}, "waits")


@extra("input_required_result_multiple_inputs")
async def input_required_result_multiple_inputs(_: Context, params: CallToolRequestParams) -> Answer:
    wanted = NAME | {"greeting": sample("Generate a greeting", 50), "client_roots": ListRootsRequest()}
    complete = params.request_state and set(wanted) <= set(params.input_responses or {})
    return said("all answered") if complete else asked(wanted, "waits for all")


@extra("input_required_result_multi_round")
async def input_required_result_multi_round(_: Context, params: CallToolRequestParams) -> Answer:
    if params.request_state == "second" and accepted(params, "step2"):
        return said("both steps done")
    if params.request_state == "first" and accepted(params, "step1"):
        return asked({"step2": form("Step 2: What is your favorite color?", color=TEXT)}, "second")
    return asked({"step1": form("Step 1: What is your name?", name=TEXT)}, "first")


@extra("input_required_result_capabilities")
async def input_required_result_capabilities(context: Context, _: CallToolRequestParams) -> Answer:
    """Asks only for what the client said it can do."""
    able = context.session.check_client_capability(SAMPLING)
    return asked({"opinion": sample("What do you think?")} if able else NAME)


@extra("elicitation")
async def elicitation(context: Context, params: CallToolRequestParams) -> Answer:
    fields = {"username": TEXT, "email": TEXT}
    return await _elicited(context, str((params.arguments or {}).get("message", "")), fields, "User response")


@extra("elicitation_sep1034_defaults")
async def elicitation_sep1034_defaults(context: Context, _: CallToolRequestParams) -> Answer:
    states = ["active", "inactive", "pending"]
    fields = {
        "name": TEXT | {"default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": TEXT | {"enum": states, "default": states[0]},
        "verified": {"type": "boolean", "default": True},
    }
    return await _elicited(context, "Who are you?", fields, "Elicitation completed")


@extra("elicitation_sep1330_enums")
async def elicitation_sep1330_enums(context: Context, _: CallToolRequestParams) -> Answer:
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
    fields = {
        "untitledSingle": TEXT | {"enum": options},
        "titledSingle": TEXT | {"oneOf": titled},
        "legacyEnum": TEXT | {"enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": TEXT | {"enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _elicited(context, "Choose", fields, "Elicitation completed")


async def _elicited(context: Context, message: str, fields: dict[str, Any], said_before: str) -> Answer:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    answer = await context.session.elicit_form(message, schema, context.request_id)
    return said(f"{said_before}: action={answer.action}, content={answer.content}")


@extra("trigger_tool_change")
async def trigger_tool_change(_: Context, __: CallToolRequestParams) -> Answer:
    await BUS.publish(ToolsListChanged())
    return said("told")


@extra("trigger_prompt_change")
async def trigger_prompt_change(_: Context, __: CallToolRequestParams) -> Answer:
    await BUS.publish(PromptsListChanged())
    return said("told")
