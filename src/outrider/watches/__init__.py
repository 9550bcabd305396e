"""Look again at pages, searches and values on a schedule, and tell what has changed."""
