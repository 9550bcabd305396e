"""Tools for files and code of a session's workspace."""
