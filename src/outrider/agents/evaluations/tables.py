"""Tables of evaluations.

Import this module only where a query is made (see `core.tables`).
"""

from sqlalchemy import Boolean, Column, Float, Index, Integer, String, Table, Text

from outrider.core.tables import json_type, metadata

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("tool_call_id", String(40), nullable=False),
    Column("workspace", String(200), nullable=False),
    Column("session", String(200), nullable=False),  # the caller's, not the browser's
    Column("identity", String(200)),
    Column("run_id", String(40)),  # None if the caller gave the steps
    Column("url", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("mode", String(16), nullable=False),
    Column("limits", json_type, nullable=False),
    Column("output_schema", json_type),
    Column("claim", json_type),  # the agent's conclusion, from its call of `done`
    Column("status", String(16), nullable=False),  # running | success | partial | failed
    Column("stop_reason", String(16)),
    Column("answer", json_type),
    Column("created_at", Float, nullable=False),
    Column("ended_at", Float),
    Index("ix_evaluations_session", "session", "created_at"),
    Index("ix_evaluations_created_at", "created_at"),
    Index("ix_evaluations_run_id", "run_id", "created_at"),
)

evaluation_records = Table(
    "evaluation_records",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("evaluation_id", String(40), nullable=False),
    Column("at", Float, nullable=False),
    Column("kind", String(16), nullable=False),  # agent | console | network | screenshot
    Column("type", String(16), nullable=False),  # for a screenshot: agent_step | stream_sample
    Column("step", Integer, nullable=False),
    Column("url", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("has_error", Boolean, nullable=False),
    Column("details", json_type, nullable=False),
    Column("artifact_id", String(36)),
    Index("ix_evaluation_records_evaluation_id", "evaluation_id", "at"),
)
