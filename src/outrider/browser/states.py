"""Saved sign-ins: cookies and local storage in a file, readable by their owner only, encrypted if wished.

The format is the one that Playwright calls storage state, so its files can be used here and ours there.
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

DEFAULT = "default"
NAME = re.compile(r"[a-z0-9_-]{1,64}")
ENCRYPTED = "outrider.state.v1"
ROUNDS = {"n": 2**15, "r": 8, "p": 1}  # scrypt, as OWASP's password storage advice has it


@dataclass(frozen=True)
class StateInfo:
    """A saved state, without anything that is in it.

    Attributes:
        saved_at: In seconds since the epoch.
        cookies: How many; None for one that is encrypted or damaged.
        origins: Sites with local storage; None for one that is encrypted or damaged.
    """

    state_id: str
    path: Path
    saved_at: float
    encrypted: bool
    cookies: int | None
    origins: tuple[str, ...] | None


def read_state_id(text: str | None) -> str:
    """A state's name: trimmed, in lower case, of letters, digits, `-` and `_`. Raises InvalidInput."""
    name = (text or DEFAULT).strip().lower() or DEFAULT
    if not NAME.fullmatch(name):
        hint = "at most 64 letters, digits, - and _"
        raise InvalidInput(f"state_id: {text!r} cannot be a name", hint=hint, code="bad_state_id")
    return name


class States:
    """The saved states of one folder.

    Args:
        folder: Made when first needed, for its owner only.
        key: A passphrase; with it new states are encrypted.
    """

    def __init__(self, folder: Path, key: str = "") -> None:
        self._folder = folder
        self._key = key

    def save(self, state_id: str | None, state: dict[str, Any]) -> StateInfo:
        """Keeps a state; an older one of that name is replaced at once or not at all.

        Raises InvalidInput for the name, Unavailable when it cannot be written.
        """
        name = read_state_id(state_id)
        text = json.dumps(state, ensure_ascii=False)
        data = json.dumps(_encrypted(text, self._key)) if self._key else text
        path, partial = self._path(name), self._folder / f".{name}.{secrets.token_hex(4)}"
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
        return self._describe(path)

    def has(self, state_id: str | None) -> bool:
        """Whether there is a state of that name. Raises InvalidInput for what cannot be one."""
        return self._path(read_state_id(state_id)).is_file()

    def bring_in(self, state_id: str | None, file: Path) -> StateInfo:
        """Keeps a state that was written elsewhere, by us or by Playwright, under this folder's key.

        Raises InvalidInput for what is no state, NotConfigured when it is encrypted with another key.
        """
        data = _read(file)
        if data.get("format") == ENCRYPTED:
            data = _decrypted(data, self._key, file.stem)
        if not _is_state(data):
            hint = "a file of `outrider browser login`, or Playwright's storage state"
            raise InvalidInput(f"{file.name} holds no saved sign-in", hint=hint, code="bad_state")
        return self.save(state_id, data)

    def load(self, state_id: str | None) -> dict[str, Any]:
        """A saved state. Raises NotFound, NotConfigured (the key is missing or wrong) or Unavailable."""
        path = self._existing(state_id)
        data = _read(path)
        if data.get("format") == ENCRYPTED:
            return _decrypted(data, self._key, path.stem)
        return data

    def list(self) -> list[StateInfo]:
        """All states, by name."""
        return [self._describe(path) for path in sorted(self._folder.glob("*.json")) if NAME.fullmatch(path.stem)]

    def delete(self, state_id: str) -> StateInfo:
        """Removes a state. Raises NotFound."""
        path = self._existing(state_id)
        info = self._describe(path)
        path.unlink(missing_ok=True)
        return info

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _existing(self, state_id: str | None) -> Path:
        path = self._path(read_state_id(state_id))
        if not path.is_file():
            known = ", ".join(each.stem for each in sorted(self._folder.glob("*.json"))) or "none is saved"
            raise NotFound(f"no saved state {path.stem!r}", code="unknown_state", hint=f"saved states: {known}")
        return path

    def _describe(self, path: Path) -> StateInfo:
        """What can be told of a file; of one that is encrypted or damaged nothing of what is inside."""
        try:
            data = _read(path)
        except Unavailable:
            data = {}
        if not _is_state(data):
            return StateInfo(path.stem, path, path.stat().st_mtime, data.get("format") == ENCRYPTED, None, None)
        origins = tuple(str(each.get("origin", "")) for each in data.get("origins", []))
        return StateInfo(path.stem, path, path.stat().st_mtime, False, len(data.get("cookies", [])), origins)


def usable_cookies(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The state's cookies as `Storage.setCookies` takes them, without those that have expired."""
    names = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "partitionKey")
    kept = []
    for cookie in state.get("cookies", []):
        expires = cookie.get("expires", -1)
        if expires is None or expires < 0 or expires > time.time():
            plain = {name: cookie[name] for name in names if cookie.get(name) not in (None, "")}
            plain.setdefault("value", "")
            kept.append(plain | ({"expires": expires} if expires and expires > 0 else {}))
    return kept


def _is_state(data: dict[str, Any]) -> bool:
    parts = [data.get(name, []) for name in ("cookies", "origins")]
    listed = all(isinstance(each, list) and all(isinstance(item, dict) for item in each) for each in parts)
    return listed and ("cookies" in data or "origins" in data)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unavailable(f"the state {path.stem} cannot be read", code="storage", hint="save it anew") from error
    if not isinstance(data, dict):
        raise Unavailable(f"the state {path.stem} is damaged", code="storage", hint="save it anew")
    return data


def _encrypted(text: str, key: str) -> dict[str, Any]:
    salt, nonce = os.urandom(16), os.urandom(12)
    sealed = _cipher(key, salt).encrypt(nonce, text.encode(), ENCRYPTED.encode())
    parts = {"salt": salt, "nonce": nonce, "data": sealed}
    return {"format": ENCRYPTED} | {name: b64encode(part).decode() for name, part in parts.items()}


def _decrypted(data: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    hint = "set OUTRIDER_BROWSER__STATE_KEY to the passphrase it was saved with"
    if not key:
        raise NotConfigured(f"the state {name} is encrypted", code="state_key", hint=hint)
    from cryptography.exceptions import InvalidTag

    try:
        salt, nonce, sealed = (b64decode(data[part]) for part in ("salt", "nonce", "data"))
        return json.loads(_cipher(key, salt).decrypt(nonce, sealed, ENCRYPTED.encode()))
    except (InvalidTag, KeyError, ValueError):
        raise NotConfigured(f"the state {name} does not open with this key", code="state_key", hint=hint) from None


def _cipher(key: str, salt: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    except ImportError:
        raise NotConfigured("encrypting states needs `cryptography`", hint="pip install cryptography") from None
    return AESGCM(Scrypt(salt=salt, length=32, **ROUNDS).derive(key.encode()))
