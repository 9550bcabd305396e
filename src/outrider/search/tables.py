"""The table of provider health, imported only by queries.

See `core.tables`.
"""

from sqlalchemy import Column, Float, Integer, String, Table

from outrider.core.tables import json_type, metadata

health = Table(
    "search_health",
    metadata,
    Column("access", String(100), primary_key=True),
    Column("successes", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("kinds", json_type, nullable=False),
    Column("latency", Float),
    Column("quota_left", Integer),
    Column("limited_until", Float),
    Column("streak", Integer, nullable=False),
    Column("open_until", Float),
    Column("last_failure", String(32), nullable=False),
    Column("updated_at", Float, nullable=False),
)
