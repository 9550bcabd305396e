"""Browser sessions, their registry and saved states."""
