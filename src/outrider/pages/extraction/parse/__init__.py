"""From bytes to a tree: sources that would cost a tree builder too much are made harmless first."""
