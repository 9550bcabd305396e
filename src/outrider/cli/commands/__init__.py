"""One file per command; its click command is named `command`."""
