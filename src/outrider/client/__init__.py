"""Call the shared process's tools from another program of this user.

It imports little, because commands that only call the shared process must start fast.
"""

from outrider.client.server_connection import ConnectionEnded, ServerConnection, UnknownTool
from outrider.client.tool_client import ToolClient

__all__ = ["ConnectionEnded", "ServerConnection", "ToolClient", "UnknownTool"]
