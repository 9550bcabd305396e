"""The replicas that share one database, and calls between them."""
