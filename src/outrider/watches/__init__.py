"""Check pages, searches and values on a schedule; report changes."""
