"""Search a workspace by pattern, with two equivalent engines."""
