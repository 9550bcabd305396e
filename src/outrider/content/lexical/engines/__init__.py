"""Keyword indexes for more than the files of SQLite serve well; all behind `content.keywords.index.Index`."""
