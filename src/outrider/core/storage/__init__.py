"""Storage for the bytes of artifacts: a folder, or object storage."""
