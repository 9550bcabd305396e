"""Parts of OpenDocument: text, tables, embedded objects."""
