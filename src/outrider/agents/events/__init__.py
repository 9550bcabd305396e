"""What happens in runs: written down once, told in its own process and to all others."""
