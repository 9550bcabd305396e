"""Tools that delegate tasks to agents."""
