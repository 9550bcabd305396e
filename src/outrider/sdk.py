"""Serve Outrider's tools to the Claude Agent SDK in the same process.

    async with open_app() as app:
        options = ClaudeAgentOptions(
            mcp_servers={"outrider": sdk.server(app)},
            allowed_tools=["mcp__outrider__web_search", "mcp__outrider__web_fetch"],
        )

Agents then see `mcp__<key>__<tool>`. Only the agent's side needs the extra `outrider[sdk]`.
"""

from typing import TYPE_CHECKING, Any

from outrider.app import App

if TYPE_CHECKING:  # an optional extra
    from claude_agent_sdk import McpSdkServerConfig


def server(
    app: App, toolset: str | None = None, *, name: str = "outrider", session: str = "default"
) -> "McpSdkServerConfig":
    """Return a value for `ClaudeAgentOptions.mcp_servers`.

    Args:
        app: The open app; it must stay open while the agent runs.
        toolset: A toolset by its name or alias, or None for all that are offered.
        name: The server's own name; tools are prefixed with the key in `mcp_servers` instead.
        session: The session that the agent's calls belong to.
    """
    config: Any = {"type": "sdk", "name": name, "instance": app.build_server(toolset, name=name, session=session)}
    return config
