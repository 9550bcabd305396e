"""Building blocks of the readers: parsers, errors, and the draft that they write."""
