"""Object storage: S3 and what speaks its protocol, Google's and Azure's, over the library `obstore`.

Its address is the operator's, like that of the database, so its requests do not pass the egress guard: nothing that a
model or a page says becomes a part of them, and the names of objects are UUIDs that we made.
"""

import hashlib
import re
import uuid
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import parse_qsl, urlsplit

import anyio

from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.storage.storage import Item, Stored, unusable

if TYPE_CHECKING:
    from obstore.store import ObjectStore

BLOCK = 5 << 20  # bytes; S3 takes no smaller parts but the last (docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts)
AT_ONCE = 2  # parts under way: with the one being read fifteen megabytes of memory a file
REASON_CHARS = 160
SCHEMES = ("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https")
SECRET = re.compile(r"secret|token|password|credential|key", re.IGNORECASE)
TAKEN = {  # names of the environment, as every program of these clouds reads them, and what obstore calls them
    "AWS_ACCESS_KEY_ID": "access_key_id",
    "AWS_SECRET_ACCESS_KEY": "secret_access_key",
    "AWS_SESSION_TOKEN": "session_token",
    "AWS_DEFAULT_REGION": "region",
    "AWS_REGION": "region",
    "AWS_ENDPOINT_URL": "endpoint",
    "AWS_ENDPOINT_URL_S3": "endpoint",
    "GOOGLE_APPLICATION_CREDENTIALS": "application_credentials",
    "GOOGLE_SERVICE_ACCOUNT_KEY": "service_account_key",
    "AZURE_STORAGE_ACCOUNT_NAME": "account_name",
    "AZURE_STORAGE_ACCOUNT_KEY": "account_key",
    "AZURE_STORAGE_SAS_KEY": "sas_key",
}
CLOUDS = {"s3": "AWS_", "s3a": "AWS_", "gs": "GOOGLE_"}
LOST = "check that the storage in `artifacts.storage` runs and can be reached; `outrider doctor` tests it"
KEYS = "check the bucket's name and the rights of AWS_ACCESS_KEY_ID (or GOOGLE_…, AZURE_…); `outrider doctor` tests it"


class ObjectStorage:
    """Objects below an address.

    Args:
        address: `s3://bucket/prefix?endpoint=https://…&region=…`, `gs://…`, `az://…`.
        environ: Where the keys are.
    """

    def __init__(self, address: str, environ: Mapping[str, str]) -> None:
        parts = urlsplit(address)
        self.place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._options = dict(parse_qsl(parts.query))
        self._cloud = CLOUDS.get(parts.scheme, "AZURE_")
        self._environ = environ
        self._made: ObjectStore | None = None
        secrets = [name for name in self._options if SECRET.search(name)]
        if parts.scheme not in SCHEMES or secrets or parts.password:
            raise _wrong(
                f"{secrets[0]!r} is a secret" if secrets else f"{self.place!r} is no address that could be used"
            )

    async def put(self, name: str, source: BinaryIO) -> Stored:
        """Keeps an object; one that could not be sent to its end never appears."""
        _library()
        digest, size = hashlib.sha256(), 0
        first = await anyio.to_thread.run_sync(source.read, BLOCK)

        async def blocks() -> AsyncGenerator[bytes]:
            nonlocal size
            block = first
            while block:
                digest.update(block)
                size += len(block)
                yield block
                block = await anyio.to_thread.run_sync(source.read, BLOCK)

        with self._telling("kept"):
            if len(first) < BLOCK:
                await _library().put_async(self._store(), _checked(name), first)
                return Stored(len(first), hashlib.sha256(first).hexdigest())
            await _library().put_async(
                self._store(), _checked(name), blocks(), chunk_size=BLOCK, max_concurrency=AT_ONCE
            )
        return Stored(size, digest.hexdigest())

    async def part(self, name: str, start: int, stop: int) -> bytes:
        """Some of its bytes."""
        if stop <= start:
            return b""
        with suppress(_OutOfRange), self._telling("read"):
            found = await _library().get_async(self._store(), _checked(name), options={"range": (start, stop)})
            return bytes(await found.bytes_async())
        return b""

    async def read(self, name: str) -> bytes:
        """All its bytes."""
        with self._telling("read"):
            return bytes(await (await _library().get_async(self._store(), _checked(name))).bytes_async())

    async def stream(self, name: str) -> AsyncGenerator[bytes]:
        """All its bytes, a block at a time."""
        with self._telling("read"):
            found = await _library().get_async(self._store(), _checked(name))
            async for block in found.stream(min_chunk_size=1 << 20):
                yield bytes(block)

    async def remove(self, names: Sequence[str]) -> None:
        """Removes objects."""
        with suppress(OutriderError, FileNotFoundError), self._telling("removed"):
            await _library().delete_async(self._store(), [_checked(name) for name in names])

    async def items(self) -> AsyncGenerator[Item]:
        """All objects below the address."""
        with self._telling("listed"):
            async for some in _library().list(self._store()):
                for each in some:
                    yield Item(each["path"], each["last_modified"].timestamp())

    def _store(self) -> "ObjectStore":
        if self._made is None:
            self._made = self._opened()
        return self._made

    def _opened(self) -> "ObjectStore":
        library = _library()
        config = self._given() | self._options
        options: Any = {"timeout": "60s", "connect_timeout": "5s"}
        if config.get("endpoint", self.place).startswith("http://"):
            options["allow_http"] = True
        try:
            return library.store.from_url(
                self.place,
                config=config,
                client_options=options,
                retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=20)},
            )
        except (library.exceptions.BaseError, ValueError) as error:
            raise _wrong(_reason(error)) from None

    def _given(self) -> dict[str, str]:
        return {
            option: self._environ[name]
            for name, option in TAKEN.items()
            if name.startswith(self._cloud) and self._environ.get(name)
        }

    @contextmanager
    def _telling(self, done: str) -> Generator[None]:
        """The library's errors as ours. Raises FileNotFoundError for what is not there."""
        errors = _library().exceptions
        try:
            yield
        except FileNotFoundError as error:
            if done == "read" and "NoSuchBucket" not in str(error):
                raise
            raise unusable(f"the file cannot be {done}: {_reason(error)}", KEYS) from None
        except (errors.PermissionDeniedError, errors.UnauthenticatedError) as error:
            raise unusable(f"the file cannot be {done}: {_reason(error)}", KEYS) from None
        except (errors.BaseError, OSError) as error:
            if "status code: 416" in str(error) or "InvalidRange" in str(error):
                raise _OutOfRange from None
            raise unusable(f"the file cannot be {done}: {_reason(error)}", LOST) from None


class _OutOfRange(Exception):
    """What was asked for begins behind the end."""


def _library() -> Any:
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError:
        raise NotConfigured(
            "the library for object storage is not installed", code="storage", hint="pip install 'outrider[objects]'"
        ) from None
    return obstore


def _checked(name: str) -> str:
    return str(uuid.UUID(name))


def _reason(error: BaseException) -> str:
    """The beginning of the library's sentence, without addresses, which may hold a signature."""
    first = (str(error) or type(error).__name__).splitlines()[0]
    return re.sub(r"https?://\S+", "the storage", first)[:REASON_CHARS]


def _wrong(reason: str) -> NotConfigured:
    return NotConfigured(
        f"artifacts.storage: {reason}",
        code="storage",
        hint="write s3://bucket/prefix?endpoint=https://…&region=…, and keys into AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY (or those of GOOGLE_… and AZURE_…)",
    )
