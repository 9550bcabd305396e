"""Tools that save, list, show and run flows."""
