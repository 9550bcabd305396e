"""Parts of the page Questions."""
