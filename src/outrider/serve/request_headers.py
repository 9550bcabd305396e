"""HTTP headers with which callers describe themselves."""

WORKSPACE_HEADER = "x-outrider-workspace"  # chooses one of the caller's workspaces
