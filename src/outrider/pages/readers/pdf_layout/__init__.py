"""Layout analysis of PDF pages: from characters, drawings and links to blocks."""
