"""Search engines' result pages, one file an engine."""
