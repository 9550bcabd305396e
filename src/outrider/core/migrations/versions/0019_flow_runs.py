"""Runs of flows and their steps."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "flow_runs",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("session", sa.String(200), nullable=False),
        sa.Column("flow", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("sources", json_type, nullable=False),
        sa.Column("parameters", json_type, nullable=False),
        sa.Column("options", json_type, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("step", sa.String(120), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("browser_session", sa.String(64), nullable=False),
        sa.Column("process", sa.String(200), nullable=False),
        sa.Column("lease", sa.String(32), nullable=False),
        sa.Column("lease_until", sa.Float, nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
    )
    op.create_index("ix_flow_runs_owner", "flow_runs", ["owner", "started_at"])
    op.create_table(
        "flow_run_steps",
        sa.Column("run_id", sa.String(40), sa.ForeignKey("flow_runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.String(120), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("was_met", sa.Boolean, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("notes", json_type, nullable=False),
        sa.Column("rows", json_type, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    """Drops them."""
    for table in ("flow_run_steps", "flow_runs"):
        op.drop_table(table)
