"""The library: everything that agents have left behind, to be found, looked at and taken away."""
