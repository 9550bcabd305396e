"""Offer the tools as plain HTTP: JSON in, JSON or server-sent events out, described by OpenAPI."""
