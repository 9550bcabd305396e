"""Live view and manual control of a browser session."""
