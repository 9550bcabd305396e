"""Tools that keep texts and search in them."""
