"""One file a command; its click command is named `command`."""
