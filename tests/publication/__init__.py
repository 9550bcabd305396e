"""Checks by other people's programs of what the repository gives to registries, hosts and GitHub."""
