"""Hosts of watches, with the times of the next allowed requests."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "watch_hosts",
        sa.Column("host", sa.String(255), primary_key=True),
        sa.Column("free_at", sa.Float, nullable=False),
        sa.Column("crawl_delay_s", sa.Float, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Drops it."""
    op.drop_table("watch_hosts")
