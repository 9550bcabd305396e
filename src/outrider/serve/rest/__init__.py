"""Offer the tools as plain HTTP with JSON.

Answers are JSON or server-sent events; OpenAPI describes them.
"""
