"""Find passages by meaning: embedders, and the index of their vectors."""
