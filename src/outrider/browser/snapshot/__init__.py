"""Page snapshots: outlines, differences and extracted content."""
