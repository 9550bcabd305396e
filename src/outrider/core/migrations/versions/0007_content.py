"""Content stores: stores, contents, their chunks and vectors."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of content stores."""
    op.create_table(
        "content_stores",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("scope", sa.String(64), nullable=False),
        sa.Column("default_of", sa.String(64), unique=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("languages", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("modified_at", sa.Float, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("stamp", sa.String(16), nullable=False),
        sa.Column("swept", sa.Integer, nullable=False),
        sa.Column("embedded", sa.Integer, nullable=False),
    )
    op.create_index("ix_content_stores_scope", "content_stores", ["scope", "created_at"])
    op.create_table(
        "contents",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("store_id", sa.String(40), nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("filename", sa.String(255), nullable=False),
        sa.Column("mime_type", sa.String(127), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("characters", sa.Integer, nullable=False),
        sa.Column("line_count", sa.Integer, nullable=False),
        sa.Column("chunk_count", sa.Integer, nullable=False),
        sa.Column("preview", sa.Text, nullable=False),
        sa.Column("facts", json_type, nullable=False),
        sa.Column("unasked", sa.Integer, nullable=False),
        sa.Column("uploaded_at", sa.Float, nullable=False),
        sa.Column("modified_at", sa.Float, nullable=False),
        sa.Column("accessed_at", sa.Float, nullable=False),
    )
    op.create_index("ix_contents_generation", "contents", ["store_id", "generation"])
    op.create_index("ix_contents_hash", "contents", ["store_id", "hash"])
    op.create_index("ix_contents_figures", "contents", ["store_id", "chunk_count", "size"])
    op.create_index("ix_contents_uploaded_at", "contents", ["store_id", "uploaded_at"])
    op.create_index("ix_contents_source", "contents", ["source"])
    op.create_index("ix_contents_unasked", "contents", ["unasked", "accessed_at"])
    op.create_table(
        "content_chunks",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("content_id", sa.String(40), nullable=False),
        sa.Column("store_id", sa.String(40), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.Column("from_line", sa.Integer, nullable=False),
        sa.Column("to_line", sa.Integer, nullable=False),
        sa.Column("heading", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("ix_content_chunks_content_id", "content_chunks", ["content_id", "number"], unique=True)
    op.create_index("ix_content_chunks_store_id", "content_chunks", ["store_id"])
    op.create_table(
        "content_removals",
        sa.Column("store_id", sa.String(40), primary_key=True),
        sa.Column("content_id", sa.String(40), primary_key=True),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_index("ix_content_removals_at", "content_removals", ["at"])
    op.create_index("ix_content_removals_generation", "content_removals", ["store_id", "generation"])
    op.create_table(
        "content_vectors",
        sa.Column("chunk_id", sa.String(64), primary_key=True),
        sa.Column("embedder", sa.String(100), primary_key=True),
        sa.Column("content_id", sa.String(40), nullable=False),
        sa.Column("store_id", sa.String(40), nullable=False),
        sa.Column("embedded", sa.Integer, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_content_vectors_store_id", "content_vectors", ["store_id", "embedder", "embedded"])
    op.create_index("ix_content_vectors_content_id", "content_vectors", ["content_id"])


def downgrade() -> None:
    """Drops them."""
    for table in ("content_vectors", "content_removals", "content_chunks", "contents", "content_stores"):
        op.drop_table(table)
