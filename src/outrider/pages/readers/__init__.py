"""One file per kind of resource; each defines an instance of `DocumentReader`, which is discovered."""
