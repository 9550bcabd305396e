"""Serve MCP and HTTP to callers."""
