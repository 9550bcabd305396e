"""Pages of component libraries from npm, operated through the browser tools: `make libraries`."""
