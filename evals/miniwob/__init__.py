"""MiniWoB++ as a regression gate of the browser's tools: `python -m evals.miniwob`.

130 small pages (Farama Foundation, MIT licence), each with a task in words. Scripts of ours solve them with nothing
but the browser's tools, called through an MCP client: what they know of a page is what a snapshot says.
"""
