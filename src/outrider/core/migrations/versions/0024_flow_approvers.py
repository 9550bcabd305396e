"""Store the person who has approved a flow."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column."""
    approver = sa.Column("approved_by", sa.String(200), nullable=False, server_default=sa.text("''"))
    op.add_column("flow_approvals", approver)


def downgrade() -> None:
    """Drops it."""
    op.drop_column("flow_approvals", "approved_by")
