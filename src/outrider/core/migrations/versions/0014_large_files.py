"""Sizes of files over two gigabytes on Postgres.

Its integers are too small for them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Widens the column."""
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("artifacts", "size", type_=sa.BigInteger)


def downgrade() -> None:
    """Narrows it again; a longer file's size is an error then."""
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("artifacts", "size", type_=sa.Integer)
