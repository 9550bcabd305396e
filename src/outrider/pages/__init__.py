"""Read web pages politely as Markdown, and cache and search them.

`Pages.read` returns a `FetchedPage`, whose `Document` is what a model reads; `extract` turns HTML into a document
without any network.
"""
