"""The page cache, with full-text search of its pages on SQLite."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the cache and the search table."""
    op.create_table(
        "pages",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("final_url", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("content_type", sa.String(255), nullable=False),
        sa.Column("fetched_at", sa.Float, nullable=False),
        sa.Column("checked_at", sa.Float, nullable=False),
        sa.Column("fresh_until", sa.Float, nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("last_modified", sa.Text, nullable=False),
        sa.Column("cut", sa.Integer, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("used_at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("html", sa.LargeBinary),
    )
    op.create_index("ix_pages_room", "pages", ["used_at", "size", "key"])
    if op.get_bind().dialect.name == "sqlite":
        # Words are already split (core.text.terms), so the tokenizer only has to separate them at spaces.
        op.execute("CREATE VIRTUAL TABLE page_words USING fts5(key UNINDEXED, title, body, tokenize='unicode61')")


def downgrade() -> None:
    """Drops them."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE page_words")
    op.drop_table("pages")
