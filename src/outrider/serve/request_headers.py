"""HTTP headers with which callers describe themselves."""

IDEMPOTENCY_HEADER = "idempotency-key"  # recognizes repetitions of a request that starts a run
WORKSPACE_HEADER = "x-outrider-workspace"  # chooses one of the caller's workspaces
SESSION_HEADER = "x-outrider-session"  # names the session of a REST call, as `session_id` in `_meta` does
PERSON_HEADER = "x-api-user-email"  # the person for whom a host with one key for all acts
