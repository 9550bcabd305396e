"""Searching the web over many providers, with or without keys. Knows neither MCP nor pages."""
