"""Reading pages: fetched with manners, turned into Markdown, kept, and found again.

`Pages.read` gives a `Page`, whose `Document` is what a model reads; `extract` is HTML to a document
without any network.
"""
