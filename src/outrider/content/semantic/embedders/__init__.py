"""Embedders, one per file; `core.discovery` finds them."""
