"""Web search over many providers, with or without keys; independent of MCP and of pages."""
