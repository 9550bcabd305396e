"""A browser for agents: found, started, shut in, and driven over its own debugging protocol.

`Browsers` is the front door: it opens a `Session` for a caller. A session has `Page`s; `navigate`,
`settle`, `screenshot` and their neighbours are functions over a page.
"""
