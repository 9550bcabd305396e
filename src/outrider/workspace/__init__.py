"""The workspace: a directory of the session's own, with files to read, change and search."""
