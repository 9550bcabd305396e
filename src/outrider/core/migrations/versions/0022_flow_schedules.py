"""Schedules of flows with their notices, and details of ended runs."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables, and the columns of runs and steps."""
    op.create_table(
        "flow_schedules",
        sa.Column("id", sa.String(24), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("caller", json_type, nullable=False),
        sa.Column("flow", sa.String(64), nullable=False),
        sa.Column("cron", sa.String(100), nullable=False),
        sa.Column("timezone", sa.String(64), nullable=False),
        sa.Column("parameters", json_type, nullable=False),
        sa.Column("options", json_type, nullable=False),
        sa.Column("notify", json_type, nullable=False),
        sa.Column("revision", sa.String(32), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
    )
    op.create_index("ix_flow_schedules_due", "flow_schedules", ["next_at"])
    op.create_index("ix_flow_schedules_owner", "flow_schedules", ["owner"])
    op.create_table(
        "flow_notices",
        sa.Column("run_id", sa.String(40), sa.ForeignKey("flow_runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("holder", sa.String(200), nullable=False),
        sa.Column("held_until", sa.Float, nullable=False),
    )
    op.create_index("ix_flow_notices_due", "flow_notices", ["state", "next_at"])
    op.add_column("flow_runs", sa.Column("schedule", sa.String(24), nullable=False, server_default=sa.text("''")))
    op.add_column("flow_runs", sa.Column("attempts", sa.Integer, nullable=False, server_default="0"))
    op.add_column("flow_runs", sa.Column("healed", sa.Integer, nullable=False, server_default="0"))
    op.add_column("flow_runs", sa.Column("outline", sa.Text, nullable=False, server_default=sa.text("''")))
    op.add_column("flow_runs", sa.Column("place", sa.String(200), nullable=False, server_default=sa.text("''")))
    op.create_index("ix_flow_runs_schedule", "flow_runs", ["schedule", "state"])
    op.add_column("flow_run_steps", sa.Column("matched", sa.Text, nullable=False, server_default=sa.text("''")))


def downgrade() -> None:
    """Drops them."""
    op.drop_column("flow_run_steps", "matched")
    op.drop_index("ix_flow_runs_schedule", "flow_runs")
    for name in ("place", "outline", "healed", "attempts", "schedule"):
        op.drop_column("flow_runs", name)
    op.drop_table("flow_notices")
    op.drop_table("flow_schedules")
