"""How much of the tables and the reading order of PDFs is kept."""
