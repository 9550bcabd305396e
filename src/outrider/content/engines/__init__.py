"""Keyword indexes for more than the files of SQLite serve well; all behind `content.index.Index`."""
