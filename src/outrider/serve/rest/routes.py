"""The routes of the REST interface."""

from typing import Any
from urllib.parse import quote

from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from outrider import __version__
from outrider.core.artifacts import ArtifactStore
from outrider.core.errors import OutriderError
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve.host_guard import KnownHostMiddleware
from outrider.serve.mcp import ApprovalResponder
from outrider.serve.paths import ARTIFACTS_PATH, OPENAPI_PATH, TOOLS_PATH
from outrider.serve.problems import PROBLEM_SCHEMA, PROBLEM_TYPE, build_problem_response, serialize_problem
from outrider.serve.request_headers import IDEMPOTENCY_HEADER, SESSION_HEADER, WORKSPACE_HEADER
from outrider.serve.rest.calls import CallEndpoint
from outrider.serve.rest.requests import read_call
from outrider.serve.rest.results import RESULT_SCHEMA, describe_tool

DESCRIPTION = f"""Each path calls one tool: the body holds its arguments, the answer its result.

The header `{SESSION_HEADER}` names the session whose browser, files and plans the call uses, `{WORKSPACE_HEADER}` one
of your workspaces, and `{IDEMPOTENCY_HEADER}` makes a repeated call harmless. With `Accept: text/event-stream` a call
reports its progress, with `Accept: text/plain` the answer is the text alone. Errors are problem details (RFC 9457)."""


def build_rest_routes(
    toolbox: Toolbox,
    artifacts: ArtifactStore,
    security: TransportSecuritySettings,
    *,
    approvals: ApprovalResponder | None = None,
    assistant: str = "",
    requires_token: bool = False,
) -> list[BaseRoute]:
    """Build the routes; the application authenticates their callers.

    Args:
        toolbox: The offered tools.
        artifacts: The files that results link to.
        security: The accepted hosts and origins.
        approvals: Builds the results of calls that wait for people.
        assistant: The assistant of callers.
        requires_token: Whether calls without a token are refused, for the description.
    """
    reading = ReadEndpoints(toolbox, artifacts, requires_token=requires_token)
    calling = CallEndpoint(toolbox, approvals or ApprovalResponder(), assistant)
    middleware = [Middleware(KnownHostMiddleware, security=security), Middleware(ErrorMiddleware)]
    return [
        Route(OPENAPI_PATH, reading.serve_openapi, methods=["GET"], middleware=middleware),
        Route(TOOLS_PATH, reading.list_tools, methods=["GET"], middleware=middleware),
        Route(f"{TOOLS_PATH}/{{name}}", calling, methods=["POST"], middleware=middleware),
        Route(f"{TOOLS_PATH}/{{name}}", reading.show_tool, methods=["GET"], middleware=middleware),
        Route(f"{ARTIFACTS_PATH}/{{id}}", reading.serve_artifact, methods=["GET"], middleware=middleware),
    ]


class ErrorMiddleware:
    """Answers errors that are raised before the response starts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except OutriderError as error:
            await build_problem_response(serialize_problem(error))(scope, receive, send)


class ReadEndpoints:
    """Answers requests that only read.

    Args:
        toolbox: The offered tools.
        artifacts: The files that results link to.
        requires_token: Whether calls without a token are refused, for the description.
    """

    def __init__(self, toolbox: Toolbox, artifacts: ArtifactStore, *, requires_token: bool) -> None:
        self._toolbox = toolbox
        self._artifacts = artifacts
        self._requires_token = requires_token

    async def serve_openapi(self, request: Request) -> Response:
        """Serve the OpenAPI document of the caller's tools, or of those of one toolset (`?toolset=`)."""
        toolbox = await self._select_tools(request)
        return JSONResponse(build_openapi(toolbox, requires_token=self._requires_token))

    async def list_tools(self, request: Request) -> Response:
        """Serve the list of the caller's tools, or of those of one toolset."""
        toolbox = await self._select_tools(request)
        return JSONResponse({"tools": [describe_tool(tool) for tool in toolbox.list_tools()]})

    async def show_tool(self, request: Request) -> Response:
        """Serve the description of one tool."""
        toolbox = await self._select_tools(request)
        return JSONResponse(describe_tool(await toolbox.find_tool(request.path_params["name"])))

    async def serve_artifact(self, request: Request) -> Response:
        """Serve a file of the caller's workspace, never to be run by a browser on this origin."""
        workspace = read_call(request).workspace
        artifact, data = await self._artifacts.read(request.path_params["id"], workspace)
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(artifact.name)}",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        }
        return Response(data, headers=headers, media_type=artifact.mime_type)

    async def _select_tools(self, request: Request) -> Toolbox:
        await self._toolbox.refresh_tools()
        name = request.query_params.get("toolset")
        toolbox = self._toolbox.select_toolset(name) if name else self._toolbox
        return toolbox.apply_grant(read_call(request).grant)


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
