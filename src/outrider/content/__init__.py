"""Content stores: texts that are kept, cut into passages, and found again by their words and their meaning."""
