"""Describe the tools as an OpenAPI 3.1 document."""

from typing import Any

from outrider import __version__
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve.paths import TOOLS_PATH
from outrider.serve.problems import PROBLEM_SCHEMA, PROBLEM_TYPE
from outrider.serve.request_headers import IDEMPOTENCY_HEADER, SESSION_HEADER, WORKSPACE_HEADER
from outrider.serve.rest.results import RESULT_SCHEMA

DESCRIPTION = f"""Each path calls one tool: the body holds its arguments, the answer its result.

The header `{SESSION_HEADER}` names the session whose browser, files and plans the call uses, `{WORKSPACE_HEADER}` one
of your workspaces, and `{IDEMPOTENCY_HEADER}` makes a repeated call harmless. With `Accept: text/event-stream` a call
reports its progress, with `Accept: text/plain` the answer is the text alone. Errors are problem details (RFC 9457)."""


def build_openapi(toolbox: Toolbox, *, requires_token: bool) -> dict[str, Any]:
    """Return the document of the listed tools.

    Header parameters are described only in prose: tool servers would show them to their model as arguments.

    Args:
        toolbox: The tools that the caller may use.
        requires_token: Whether calls without a token are refused.
    """
    scheme = {"type": "http", "scheme": "bearer", "description": "A token of this server"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Outrider", "version": __version__, "description": DESCRIPTION},
        "security": [{"bearer": []}] if requires_token else [{"bearer": []}, {}],
        "tags": [{"name": each.name, "description": each.instructions} for each in toolbox.list_toolsets()],
        "paths": {f"{TOOLS_PATH}/{tool.name}": {"post": _build_operation(tool)} for tool in toolbox.list_tools()},
        "components": {
            "securitySchemes": {"bearer": scheme},
            "schemas": {"Result": RESULT_SCHEMA, "Problem": PROBLEM_SCHEMA},
        },
    }


def _build_operation(tool: Tool) -> dict[str, Any]:
    arguments = tool.input_schema
    result: dict[str, Any] = {"$ref": "#/components/schemas/Result"}
    if tool.output_schema is not None:
        result = RESULT_SCHEMA | {"properties": RESULT_SCHEMA["properties"] | {"data": tool.output_schema}}
    problem = {"$ref": "#/components/schemas/Problem"}
    return {
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "tags": [tool.toolset],
        "requestBody": {
            "required": bool(arguments.get("required")),
            "content": {"application/json": {"schema": arguments}},
        },
        "responses": {
            "200": {"description": "The result", "content": {"application/json": {"schema": result}}},
            "default": {"description": "An error", "content": {PROBLEM_TYPE: {"schema": problem}}},
        },
    }
