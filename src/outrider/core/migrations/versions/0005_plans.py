"""Plans and playbooks."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of plans and of playbooks."""
    op.create_table(
        "plans",
        sa.Column("scope", sa.String(64), primary_key=True),
        sa.Column("workspace", sa.String(200)),
        sa.Column("session", sa.String(200), nullable=False),
        sa.Column("state", json_type, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )
    op.create_table(
        "plan_records",
        sa.Column("scope", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_index("ix_plan_records_at", "plan_records", ["at"])
    op.create_table(
        "playbooks",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("workspace", sa.String(200)),
        sa.Column("assistant", sa.String(200), nullable=False),
        sa.Column("content", json_type, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )
    op.create_index("ix_playbooks_owner", "playbooks", ["owner", "created_at"])
    op.create_table(
        "playbook_runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("playbook", sa.String(64), sa.ForeignKey("playbooks.id", ondelete="CASCADE"), nullable=False),
        sa.Column("session", sa.String(200), nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
    )
    op.create_index("ix_playbook_runs_playbook", "playbook_runs", ["playbook", "started_at"])


def downgrade() -> None:
    """Drops them."""
    for table in ("playbook_runs", "playbooks", "plan_records", "plans"):
        op.drop_table(table)
