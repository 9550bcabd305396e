"""Generate, recognize and hash tokens.

A token is `outr_`, 43 random letters and digits, and a checksum of six. Prefix and checksum let secret scanners find
leaked tokens with few false alarms, and let Outrider reject other texts without a query. The random part has 256 bits,
so it cannot be guessed, and a plain SHA-256 hash is enough: slow hashes only protect passwords that people choose.
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
    """Return a new random token."""
    random_part = "".join(secrets.choice(BASE62_ALPHABET) for _ in range(RANDOM_CHARS))
    return f"{TOKEN_PREFIX}{random_part}{_compute_checksum(random_part)}"


def is_token(text: str) -> bool:
    """Return whether the text has the format of a token; it may still be unknown."""
    return TOKEN_PATTERN.fullmatch(text) is not None and text[-CHECKSUM_CHARS:] == _compute_checksum(
        text[len(TOKEN_PREFIX) : -CHECKSUM_CHARS]
    )


def hash_token(token: str) -> str:
    """Return the hash that is saved: SHA-256 as 64 hex digits."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _compute_checksum(random_part: str) -> str:
    """Return the CRC-32 of the random part in base 62 with six digits."""
    remainder, digits = zlib.crc32(random_part.encode()), ""
    for _ in range(CHECKSUM_CHARS):
        remainder, digit = divmod(remainder, len(BASE62_ALPHABET))
        digits = BASE62_ALPHABET[digit] + digits
    return digits
