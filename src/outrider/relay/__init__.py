"""`outrider mcp` as hosts start it: forward bytes between the host and the user's daemon.

It imports little of the standard library, because these imports are the whole start-up time of a host, and their
memory is used once per host. So there is no `socket` (its C half is enough), `json`, `re`, `typing`, `dataclasses`,
`pathlib` or `subprocess`. `daemon_paths` and `frames` are shared with the other side, `app/daemon`.
"""
