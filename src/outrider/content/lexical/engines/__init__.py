"""Keyword indexes for databases other than SQLite, and the choice between them."""
