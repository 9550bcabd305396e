"""Pages of component libraries from npm, operated by what the browser's tools answer: `make libraries`."""
