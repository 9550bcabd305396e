"""Cache fetched pages, list them for people, and search them."""
