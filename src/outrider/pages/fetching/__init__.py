"""Fetch a page politely, and explain failures."""
