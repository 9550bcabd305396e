"""Which blocks are the main content: features, networks, the cut, and what goes with what was cut."""
