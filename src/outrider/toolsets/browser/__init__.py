"""Tools that drive a browser session."""
