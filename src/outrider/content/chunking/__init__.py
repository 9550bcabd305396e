"""Turn drafts into chunks with exact positions."""
