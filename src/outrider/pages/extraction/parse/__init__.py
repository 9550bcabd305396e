"""Make sources safe for the parser, and parse them."""
