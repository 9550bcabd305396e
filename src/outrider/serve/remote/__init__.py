"""Connect to other MCP servers and offer their tools to agents."""

from outrider.serve.remote.servers import RemoteServers

__all__ = ["RemoteServers"]
