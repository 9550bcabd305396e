"""Find passages by their words: index terms, and keyword indexes that follow the database."""
