"""Report events to people by webhooks and commands, with retries."""
