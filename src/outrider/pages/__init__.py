"""Read web pages politely as Markdown, cache them, and search the cached ones.

`Pages.read` returns a `FetchedPage`, whose `Document` is what a model reads; `extract` turns HTML into a document
without any network.
"""
