"""`outrider mcp` as hosts start it: bytes between them and the one warm process of this user, and nothing else.

Only the standard library, and little of that: what is imported here is the whole start-up of a host, and what it holds
is held once for each host. So no `socket` (its C half is enough), `json`, `re`, `typing`, `dataclasses`, `pathlib`,
`subprocess`; `places` and `frames` are shared with the other side, `app/daemon`.
"""
