"""Render blocks as text and Markdown."""
