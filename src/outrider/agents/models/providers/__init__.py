"""Built-in providers of models, one per file."""
