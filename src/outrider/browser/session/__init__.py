"""Browser sessions, their registry and their saved state."""
