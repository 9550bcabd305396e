"""What bytes are: their type, what they contain, their charset; and HTML as far as that needs it."""
