"""Watches, their changes, and notices to be sent."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "watches",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("target", json_type, nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("schedule", sa.String(200), nullable=False),
        sa.Column("strict", sa.Integer, nullable=False),
        sa.Column("notify", json_type, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.Column("looked_at", sa.Float, nullable=False),
        sa.Column("changed_at", sa.Float, nullable=False),
        sa.Column("looks", sa.Integer, nullable=False),
        sa.Column("changes", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("snapshot", sa.LargeBinary),
        sa.Column("holder", sa.String(200), nullable=False),
        sa.Column("held_until", sa.Float, nullable=False),
    )
    op.create_index("ix_watches_owner", "watches", ["owner"])
    op.create_index("ix_watches_due", "watches", ["state", "next_at"])
    op.create_table(
        "watch_changes",
        sa.Column("watch", sa.String(16), sa.ForeignKey("watches.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("difference", sa.Text, nullable=False),
    )
    op.create_index("ix_watch_changes_at", "watch_changes", ["at"])
    op.create_table(
        "watch_notices",
        sa.Column("watch", sa.String(16), sa.ForeignKey("watches.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("holder", sa.String(200), nullable=False),
        sa.Column("held_until", sa.Float, nullable=False),
    )
    op.create_index("ix_watch_notices_due", "watch_notices", ["state", "next_at"])


def downgrade() -> None:
    """Drops them."""
    op.drop_table("watch_notices")
    op.drop_table("watch_changes")
    op.drop_table("watches")
