"""Original bytes of the files that became contents."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "content_originals",
        sa.Column("content_id", sa.String(40), primary_key=True),
        sa.Column("store_id", sa.String(40), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_content_originals_store_id", "content_originals", ["store_id"])


def downgrade() -> None:
    """Drops it; the texts of the files stay."""
    op.drop_table("content_originals")
