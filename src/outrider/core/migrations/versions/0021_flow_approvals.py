"""Flows that a person has approved.

Their steps no longer ask.
"""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "flow_approvals",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("flow", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("origins", json_type, nullable=False),
        sa.Column("approved_at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    """Drops it."""
    op.drop_table("flow_approvals")
