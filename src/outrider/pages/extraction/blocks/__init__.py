"""Cut a parsed page into blocks."""
