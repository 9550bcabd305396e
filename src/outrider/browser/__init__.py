"""Browser sessions for agents, driven over the Chrome DevTools Protocol.

`session.browsers.Browsers` opens a `Session` for a caller; a session has pages. `page`, `snapshot` and `actions`
hold the functions that work on a page.
"""
