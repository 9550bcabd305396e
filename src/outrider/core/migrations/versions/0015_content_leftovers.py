"""Deleted stores and contents whose rows are hidden, and purged later."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "content_leftovers",
        sa.Column("store_id", sa.String(40), primary_key=True),
        sa.Column("content_id", sa.String(40), primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    """Drops it; `outrider db check --repair` removes what had not been swept."""
    op.drop_table("content_leftovers")
