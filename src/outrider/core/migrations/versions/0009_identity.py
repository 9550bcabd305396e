"""Workspaces, members, tokens, their audit, counters, and the owner of all data."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of identity, and adds owners to events, artifacts and stores."""
    op.create_table(
        "identity_workspaces",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_table(
        "identity_members",
        sa.Column("workspace", sa.String(64), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("added_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "person"),
    )
    op.create_index("ix_identity_members_person", "identity_members", ["person"])
    op.create_table(
        "identity_tokens",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("label", sa.String(200), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("workspaces", json_type, nullable=False),
        sa.Column("toolsets", json_type),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float),
        sa.Column("used_at", sa.Float),
        sa.Column("revoked_at", sa.Float),
    )
    op.create_index("ix_identity_tokens_hash", "identity_tokens", ["hash"], unique=True)
    op.create_index("ix_identity_tokens_person", "identity_tokens", ["person"])
    op.create_table(
        "identity_audit",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("person", sa.String(200)),
        sa.Column("credential", sa.String(200)),
        sa.Column("workspace", sa.String(200)),
        sa.Column("address", sa.String(64)),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("outcome", sa.String(64), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_index("ix_identity_audit_at", "identity_audit", ["at"])
    op.create_table(
        "identity_counters",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("window", sa.Integer, nullable=False),
        sa.Column("used", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("key", "window"),
    )
    op.create_index("ix_identity_counters_window", "identity_counters", ["window"])
    for column in (
        sa.Column("workspace", sa.String(200)),
        sa.Column("credential", sa.String(200)),
        sa.Column("address", sa.String(64)),
    ):
        op.add_column("events", column)
    for table in ("artifacts", "content_stores"):
        op.add_column(table, sa.Column("workspace", sa.String(200)))
        op.add_column(table, sa.Column("identity", sa.String(200)))
        op.create_index(f"ix_{table}_workspace", table, ["workspace"])


def downgrade() -> None:
    """Drops them."""
    for table in ("artifacts", "content_stores"):
        op.drop_index(f"ix_{table}_workspace", table)
        op.drop_column(table, "identity")
        op.drop_column(table, "workspace")
    for column in ("address", "credential", "workspace"):
        op.drop_column("events", column)
    for table in ("counters", "audit", "tokens", "members", "workspaces"):
        op.drop_table(f"identity_{table}")
