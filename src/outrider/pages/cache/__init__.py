"""Pages that were read: cached, kept by people, searched."""
