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

PREFIX = "outr_"
ALPHABET = string.digits + string.ascii_letters
RANDOM = 43  # 62**43 > 2**256
CHECK = 6  # 62**6 > 2**32
FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM + CHECK}}}")


def made() -> str:
    """A new token."""
    drawn = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return f"{PREFIX}{drawn}{_checksum(drawn)}"


def is_token(text: str) -> bool:
    """Whether the text could be one of ours; says nothing of whether it is known."""
    return FORM.fullmatch(text) is not None and text[-CHECK:] == _checksum(text[len(PREFIX) : -CHECK])


def digest(token: str) -> str:
    """What is kept of it: SHA-256, 64 hex."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _checksum(drawn: str) -> str:
    """CRC-32 of the random part, in base 62 with six digits."""
    rest, digits = zlib.crc32(drawn.encode()), ""
    for _ in range(CHECK):
        rest, digit = divmod(rest, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
