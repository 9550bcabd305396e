"""Real applications on loopback, operated by scripts that read only what the browser's tools answer: `make apps`."""
