"""One file a provider."""
