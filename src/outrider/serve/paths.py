"""Paths of the HTTP server whose callers must authenticate."""

MCP_PATH = "/mcp"
TOOLS_PATH = "/v1/tools"
ARTIFACTS_PATH = "/v1/artifacts"
OPENAPI_PATH = "/openapi.json"


def is_mcp_path(path: str) -> bool:
    """Return whether a path is that of an MCP endpoint."""
    return path == MCP_PATH or path.startswith(f"{MCP_PATH}/")


def is_rest_path(path: str) -> bool:
    """Return whether a path belongs to the REST interface."""
    return path in (TOOLS_PATH, OPENAPI_PATH) or path.startswith((f"{TOOLS_PATH}/", f"{ARTIFACTS_PATH}/"))


def requires_caller(path: str) -> bool:
    """Return whether callers of a path must authenticate, if the settings require it."""
    return is_mcp_path(path) or is_rest_path(path)
