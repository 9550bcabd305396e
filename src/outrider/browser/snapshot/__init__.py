"""Outlines of a page, their differences and extracted content."""
