"""Check pages, searches and values on a schedule, and report what has changed."""
