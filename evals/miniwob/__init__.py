"""MiniWoB++ as a regression gate of the browser's tools: `python -m evals.miniwob`.

130 small pages (Farama Foundation, MIT licence), each with a task in words. Our scripts solve them only with the
browser's tools, called through an MCP client: all they know of a page comes from snapshots.
"""
