"""The library: everything that agents have stored."""
