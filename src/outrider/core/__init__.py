"""The base of all packages: tools, calls, errors, egress, database; without domains and protocols."""
