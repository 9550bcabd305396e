"""Finding passages by what they mean: vectors, what makes them of text, and a quick search among them."""
