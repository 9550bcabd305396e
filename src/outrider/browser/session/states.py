"""Store saved states: cookies and local storage in files, optionally encrypted.

The format is Playwright's storage state, so files can be exchanged with it. Only their owner can read them.
"""

import json
import os
import re
import secrets
import time
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outrider.core.errors import InvalidInput, NotConfigured, NotFound, Unavailable
from outrider.core.installation import get_installation

STATE_NAME_PATTERN = re.compile(r"[a-z0-9_-]{1,64}")
ENCRYPTED_FORMAT = "outrider.state.v1"


@dataclass(frozen=True)
class StateInfo:
    """Facts about a saved state, without its content.

    Attributes:
        saved_at: When it was saved, in seconds since the epoch.
        cookies: The number of cookies; None if it is encrypted or damaged.
        origins: The sites with local storage; None if it is encrypted or damaged.
    """

    state_id: str
    path: Path
    saved_at: float
    encrypted: bool
    cookies: int | None
    origins: tuple[str, ...] | None


def parse_state_id(text: str | None) -> str:
    """Normalize a state's name to lower-case letters, digits, `-` and `_`. Raises InvalidInput."""
    default_name = "default"
    name = (text or default_name).strip().lower() or default_name
    if not STATE_NAME_PATTERN.fullmatch(name):
        hint = "at most 64 letters, digits, - and _"
        raise InvalidInput(f"state_id: {text!r} is not a valid name", hint=hint, code="bad_state_id")
    return name


class StateStore:
    """The saved states of one folder.

    Args:
        folder: Created on first use, readable by its owner only.
        key: A passphrase that encrypts new states; empty for none.
    """

    def __init__(self, folder: Path, key: str = "") -> None:
        self._folder = folder
        self._key = key

    def save(self, state_id: str | None, state: dict[str, Any]) -> StateInfo:
        """Save a state, replacing an older one of that name atomically.

        Raises InvalidInput for the name, Unavailable when it cannot be written.
        """
        name = parse_state_id(state_id)
        text = json.dumps(state, ensure_ascii=False)
        data = json.dumps(_encrypt_state(text, self._key)) if self._key else text
        path, partial = self._build_path(name), self._folder / f".{name}.{secrets.token_hex(4)}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._folder.chmod(0o700)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(data)
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise Unavailable(f"the state {name} cannot be saved: {error.strerror}", code="storage") from error
        return self._describe_file(path)

    def has_state(self, state_id: str | None) -> bool:
        """Return whether there is a state of that name. Raises InvalidInput for an invalid name."""
        return self._build_path(parse_state_id(state_id)).is_file()

    def import_file(self, state_id: str | None, file: Path) -> StateInfo:
        """Save a state from a file of Outrider or Playwright, encrypted with this folder's key.

        Raises InvalidInput if the file is not a state, NotConfigured if it is encrypted with another key.
        """
        data = _read_state_file(file)
        if data.get("format") == ENCRYPTED_FORMAT:
            data = _decrypt_state(data, self._key, file.stem)
        if not _is_state(data):
            hint = "give a file of `outrider browser login`, or Playwright's storage state"
            raise InvalidInput(f"{file.name} does not contain a saved state", hint=hint, code="bad_state")
        return self.save(state_id, data)

    def load(self, state_id: str | None) -> dict[str, Any]:
        """Load a saved state. Raises NotFound, NotConfigured (the key is missing or wrong) or Unavailable."""
        path = self._require_path(state_id)
        data = _read_state_file(path)
        if data.get("format") == ENCRYPTED_FORMAT:
            return _decrypt_state(data, self._key, path.stem)
        return data

    def list_states(self) -> list[StateInfo]:
        """List all states by name."""
        return [
            self._describe_file(path)
            for path in sorted(self._folder.glob("*.json"))
            if STATE_NAME_PATTERN.fullmatch(path.stem)
        ]

    def delete(self, state_id: str) -> StateInfo:
        """Delete a state. Raises NotFound."""
        path = self._require_path(state_id)
        info = self._describe_file(path)
        path.unlink(missing_ok=True)
        return info

    def _build_path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _require_path(self, state_id: str | None) -> Path:
        path = self._build_path(parse_state_id(state_id))
        if not path.is_file():
            known = ", ".join(each.stem for each in sorted(self._folder.glob("*.json"))) or "none is saved"
            raise NotFound(f"no saved state {path.stem!r}", code="unknown_state", hint=f"saved states: {known}")
        return path

    def _describe_file(self, path: Path) -> StateInfo:
        """Describe a file without decrypting it."""
        try:
            data = _read_state_file(path)
        except Unavailable:
            data = {}
        if not _is_state(data):
            return StateInfo(path.stem, path, path.stat().st_mtime, data.get("format") == ENCRYPTED_FORMAT, None, None)
        origins = tuple(str(each.get("origin", "")) for each in data.get("origins", []))
        return StateInfo(path.stem, path, path.stat().st_mtime, False, len(data.get("cookies", [])), origins)


def select_usable_cookies(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the state's cookies as `Storage.setCookies` takes them, without expired ones."""
    names = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "partitionKey")
    usable = []
    for cookie in state.get("cookies", []):
        expires = cookie.get("expires", -1)
        if expires is None or expires < 0 or expires > time.time():
            plain = {name: cookie[name] for name in names if cookie.get(name) not in (None, "")}
            plain.setdefault("value", "")
            usable.append(plain | ({"expires": expires} if expires and expires > 0 else {}))
    return usable


def _is_state(data: dict[str, Any]) -> bool:
    parts = [data.get(name, []) for name in ("cookies", "origins")]
    are_lists = all(isinstance(each, list) and all(isinstance(item, dict) for item in each) for each in parts)
    return are_lists and ("cookies" in data or "origins" in data)


def _read_state_file(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unavailable(f"the state {path.stem} cannot be read", code="storage", hint="save it again") from error
    if not isinstance(data, dict):
        raise Unavailable(f"the state {path.stem} is damaged", code="storage", hint="save it again")
    return data


def _encrypt_state(text: str, key: str) -> dict[str, Any]:
    salt, nonce = os.urandom(16), os.urandom(12)
    sealed = _build_cipher(key, salt).encrypt(nonce, text.encode(), ENCRYPTED_FORMAT.encode())
    parts = {"salt": salt, "nonce": nonce, "data": sealed}
    return {"format": ENCRYPTED_FORMAT} | {name: b64encode(part).decode() for name, part in parts.items()}


def _decrypt_state(data: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    hint = "set OUTRIDER_BROWSER__STATE_KEY to the passphrase it was saved with"
    if not key:
        raise NotConfigured(f"the state {name} is encrypted", code="state_key", hint=hint)
    from cryptography.exceptions import InvalidTag

    try:
        salt, nonce, sealed = (b64decode(data[part]) for part in ("salt", "nonce", "data"))
        return json.loads(_build_cipher(key, salt).decrypt(nonce, sealed, ENCRYPTED_FORMAT.encode()))
    except (InvalidTag, KeyError, ValueError):
        raise NotConfigured(
            f"the state {name} cannot be decrypted with this key", code="state_key", hint=hint
        ) from None


def _build_cipher(key: str, salt: bytes) -> Any:
    scrypt_costs = {"n": 2**15, "r": 8, "p": 1}  # OWASP Password Storage Cheat Sheet
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    except ImportError:
        hint = get_installation().suggest_package("cryptography")
        raise NotConfigured("encrypting states needs `cryptography`", hint=hint) from None
    return AESGCM(Scrypt(salt=salt, length=32, **scrypt_costs).derive(key.encode()))
