"""One file a way to vectors; nothing lists them (`core.discovery`)."""
