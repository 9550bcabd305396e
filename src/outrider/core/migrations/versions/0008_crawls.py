"""Crawls, and the pages that they found."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of crawls."""
    op.create_table(
        "crawls",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("start", sa.Text, nullable=False),
        sa.Column("plan", json_type, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("holder", sa.String(200), nullable=False),
        sa.Column("held_until", sa.Float, nullable=False),
    )
    op.create_index("ix_crawls_owner", "crawls", ["owner"])
    op.create_table(
        "crawl_pages",
        sa.Column("crawl", sa.String(32), sa.ForeignKey("crawls.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("again", sa.Integer, nullable=False),
        sa.Column("modified", sa.Float, nullable=False),
        sa.Column("final_url", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("chars", sa.Integer, nullable=False),
        sa.Column("change", sa.String(16), nullable=False),
        sa.Column("read_at", sa.Float, nullable=False),
        sa.Column("kept", sa.String(80), nullable=False),
    )
    op.create_index("ix_crawl_pages_next", "crawl_pages", ["crawl", "round", "state", "depth", "number"])
    op.create_index("ix_crawl_pages_sha256", "crawl_pages", ["crawl", "sha256"])


def downgrade() -> None:
    """Drops them."""
    op.drop_table("crawl_pages")
    op.drop_table("crawls")
