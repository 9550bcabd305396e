"""One file a kind of resource; each holds an instance of `Reader`, which is all it takes to be found."""
