"""Actions on page elements: locate, click, type, scroll and wait."""
