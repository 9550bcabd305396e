"""The edge: the only folder that speaks MCP and HTTP to callers."""
