"""Parts of the page Calls."""
