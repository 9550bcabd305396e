"""Identity of callers: tokens, identity providers, workspaces, quotas and audit."""
