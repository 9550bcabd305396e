"""From the kept blocks to text and Markdown."""
