"""Evaluations of websites and their records."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of evaluations and of their records."""
    op.create_table(
        "evaluations",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("tool_call_id", sa.String(40), nullable=False),
        sa.Column("workspace", sa.String(200), nullable=False),
        sa.Column("session", sa.String(200), nullable=False),
        sa.Column("identity", sa.String(200)),
        sa.Column("run_id", sa.String(40)),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("limits", json_type, nullable=False),
        sa.Column("output_schema", json_type),
        sa.Column("claim", json_type),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("stop_reason", sa.String(16)),
        sa.Column("answer", json_type),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
    )
    op.create_index("ix_evaluations_session", "evaluations", ["session", "created_at"])
    op.create_index("ix_evaluations_created_at", "evaluations", ["created_at"])
    op.create_table(
        "evaluation_records",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("evaluation_id", sa.String(40), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("has_error", sa.Boolean, nullable=False),
        sa.Column("details", json_type, nullable=False),
        sa.Column("artifact_id", sa.String(36)),
    )
    op.create_index("ix_evaluation_records_evaluation_id", "evaluation_records", ["evaluation_id", "at"])


def downgrade() -> None:
    """Drops them."""
    for table in ("evaluation_records", "evaluations"):
        op.drop_table(table)
