"""Describe a release to package indexes, registries and hosts."""
