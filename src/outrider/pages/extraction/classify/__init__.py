"""Select the blocks that are the main content."""
