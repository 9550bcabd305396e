"""Tables of playbooks. Import this only where a query is made (see `core.tables`)."""

from sqlalchemy import Column, Float, ForeignKey, Index, String, Table, Text

from outrider.core.tables import json_type, metadata

playbooks = Table(
    "playbooks",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("workspace", String(200)),
    Column("assistant", String(200), nullable=False),
    Column("content", json_type, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Index("ix_playbooks_owner", "owner", "created_at"),
)
playbook_runs = Table(
    "playbook_runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("playbook", String(64), ForeignKey("playbooks.id", ondelete="CASCADE"), nullable=False),
    Column("session", String(200), nullable=False),
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("outcome", String(16), nullable=False),
    Column("notes", Text, nullable=False),
    Index("ix_playbook_runs_playbook", "playbook", "started_at"),
)
