"""What models see: every tool is a function here, and every word that a model reads lives here."""
