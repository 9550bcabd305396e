"""Who calls: tokens, identity providers, workspaces and their members, what each may do and how much of it."""
