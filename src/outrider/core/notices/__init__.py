"""Tell people of events by webhooks and commands, and try again until it works."""
