"""Replicas that share one database, and calls between them."""
