"""Third-party checks of the files for registries, hosts and GitHub."""
