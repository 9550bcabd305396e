"""Other MCP servers as tools of agents: connected to at the first use, followed, and ended with the app."""

from outrider.serve.remote.servers import RemoteServers

__all__ = ["RemoteServers"]
