"""Finding passages by their words: terms, and indexes of several kinds that follow the rows."""
