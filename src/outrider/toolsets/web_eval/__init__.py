"""Tools that evaluate a website with an agent."""
