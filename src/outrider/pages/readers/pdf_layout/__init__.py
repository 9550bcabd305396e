"""From a PDF's characters, drawings and links to blocks in reading order."""
