"""Detect types, container contents and charsets of bodies, and scan HTML."""
