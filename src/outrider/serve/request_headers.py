"""HTTP headers with which callers describe themselves."""

IDEMPOTENCY_HEADER = "idempotency-key"  # recognizes repetitions of a request that starts a run
WORKSPACE_HEADER = "x-outrider-workspace"  # chooses one of the caller's workspaces
