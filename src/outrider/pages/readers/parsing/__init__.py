"""What the readers of documents are built of: archives, XML, and the Markdown that they write."""
