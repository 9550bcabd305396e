"""Run MCP's conformance suite against our HTTP server: `python -m tests.conformance`, or `make conformance`."""
