"""What a token looks like: `outr_`, 43 random letters and digits, and a checksum of six.

The beginning and the checksum let scanners find a token that was committed or pasted, almost without false alarms, and
let us refuse what is no token without asking the database. The random part has 256 bits, so nobody finds it by trying,
and a plain SHA-256 is what we keep: slow hashes protect what people make up, and there is nothing to make up here.
"""

import hashlib
import re
import secrets
import string
import zlib

TOKEN_PREFIX = "outr_"  # noqa: S105
BASE62_ALPHABET = string.digits + string.ascii_letters
RANDOM_CHARS = 43  # 62**43 > 2**256
CHECKSUM_CHARS = 6  # 62**6 > 2**32
TOKEN_PATTERN = re.compile(rf"{TOKEN_PREFIX}[0-9A-Za-z]{{{RANDOM_CHARS + CHECKSUM_CHARS}}}")


def generate_token() -> str:
    """A new token."""
    drawn = "".join(secrets.choice(BASE62_ALPHABET) for _ in range(RANDOM_CHARS))
    return f"{TOKEN_PREFIX}{drawn}{_compute_checksum(drawn)}"


def is_token(text: str) -> bool:
    """Whether the text could be one of ours; says nothing of whether it is known."""
    return TOKEN_PATTERN.fullmatch(text) is not None and text[-CHECKSUM_CHARS:] == _compute_checksum(
        text[len(TOKEN_PREFIX) : -CHECKSUM_CHARS]
    )


def hash_token(token: str) -> str:
    """What is kept of it: SHA-256, 64 hex."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _compute_checksum(drawn: str) -> str:
    """CRC-32 of the random part, in base 62 with six digits."""
    rest, digits = zlib.crc32(drawn.encode()), ""
    for _ in range(CHECKSUM_CHARS):
        rest, digit = divmod(rest, len(BASE62_ALPHABET))
        digits = BASE62_ALPHABET[digit] + digits
    return digits
