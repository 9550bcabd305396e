"""Real applications on loopback, operated by scripts that see only the tools' answers: `make apps`."""
