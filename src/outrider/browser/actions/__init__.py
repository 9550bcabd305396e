"""Actions on page elements: click, type, select, scroll and wait."""
