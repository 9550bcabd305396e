"""Tools that search, read and crawl the web."""
