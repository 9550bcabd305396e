"""Tables of plans. Import this only where a query is made (see `core.tables`)."""

from sqlalchemy import Column, Float, Index, Integer, String, Table, Text

from outrider.core.tables import json_type, metadata

plans = Table(
    "plans",
    metadata,
    Column("scope", String(64), primary_key=True),
    Column("workspace", String(200)),
    Column("session", String(200), nullable=False),
    Column("state", json_type, nullable=False),
    Column("updated_at", Float, nullable=False),
)
# All past goals and observations; a plan holds only the last ten. `number` counts within scope and kind.
plan_records = Table(
    "plan_records",
    metadata,
    Column("scope", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("at", Float, nullable=False),
    Index("ix_plan_records_at", "at"),
)
