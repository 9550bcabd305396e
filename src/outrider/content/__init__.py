"""Content stores: texts cut into passages, which searches find by words and by meaning."""
