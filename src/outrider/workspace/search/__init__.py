"""Search a workspace for lines that match a pattern, with two equivalent engines."""
