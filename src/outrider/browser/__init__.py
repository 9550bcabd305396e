"""A browser for agents: found, started, shut in, and driven over its own debugging protocol."""
