"""Store artifacts in object storage with the library `obstore`.

S3 and compatible services, Google and Azure.

Its requests bypass the egress guard: the operator configures its address, like that of the database, no text from a
model or a page becomes part of a request, and the names of objects are our own UUIDs.

Its blocking functions run in our threads. Its asynchronous ones call back from its own threads, and before Python
3.14 the process can abort at exit while such a thread waits for the interpreter (4 of 40 exits in a loop).
"""

import hashlib
import re
import uuid
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.from_thread

from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.installation import suggest_extra
from outrider.core.storage.storage import StorageItem, StoredFile, build_storage_error

if TYPE_CHECKING:  # an optional extra
    from obstore.store import ObjectStore

Item = TypeVar("Item")
# S3's minimum for all parts but the last (docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html).
UPLOAD_BLOCK_BYTES = 5 << 20
SECRET_OPTION = re.compile(r"secret|token|password|credential|key", re.IGNORECASE)
# The clouds' usual environment variables, with obstore's names of the options.
ENVIRONMENT_OPTIONS = {
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


class ObjectStorage:
    """Objects under an address prefix.

    Args:
        address: `s3://bucket/prefix?endpoint=https://…&region=…`, `gs://…`, `az://…`.
        environ: The environment variables with the keys.
    """

    def __init__(self, address: str, environ: Mapping[str, str]) -> None:
        cloud_prefixes = {"s3": "AWS_", "s3a": "AWS_", "gs": "GOOGLE_"}
        schemes = ("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https")
        parts = urlsplit(address)
        self.location = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._options = dict(parse_qsl(parts.query))
        self._cloud = cloud_prefixes.get(parts.scheme, "AZURE_")
        self._environ = environ
        self._object_store: ObjectStore | None = None
        secrets = [name for name in self._options if SECRET_OPTION.search(name)]
        if parts.scheme not in schemes or secrets or parts.password:
            raise _build_settings_error(
                f"{secrets[0]!r} is a secret" if secrets else f"{self.location!r} is not a usable address"
            )

    async def put(self, name: str, source: BinaryIO) -> StoredFile:
        """Store an object; an incomplete upload never becomes visible."""
        return await anyio.to_thread.run_sync(self._upload_object, name, source)

    async def read_range(self, name: str, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to before `stop`."""
        if stop <= start:
            return b""
        with suppress(_RangeNotSatisfiable), self._translate_errors("read"):
            return await anyio.to_thread.run_sync(self._download_object, name, {"range": (start, stop)})
        return b""

    async def read(self, name: str) -> bytes:
        """Return all bytes of the object."""
        with self._translate_errors("read"):
            return await anyio.to_thread.run_sync(self._download_object, name, {})

    async def stream(self, name: str) -> AsyncGenerator[bytes]:
        """Yield the object in blocks."""
        with self._translate_errors("read"):
            response = await anyio.to_thread.run_sync(_import_obstore().get, self._get_store(), _normalize_name(name))
            async for block in _iter_in_threads(response.stream(min_chunk_size=1 << 20)):
                yield bytes(block)

    async def remove(self, names: Sequence[str]) -> None:
        """Remove objects."""
        with suppress(OutriderError, FileNotFoundError), self._translate_errors("removed"):
            paths = [_normalize_name(name) for name in names]
            await anyio.to_thread.run_sync(_import_obstore().delete, self._get_store(), paths)

    async def iter_items(self) -> AsyncGenerator[StorageItem]:
        """Yield all objects under the address."""
        with self._translate_errors("listed"):
            async for batch in _iter_in_threads(_import_obstore().list(self._get_store())):
                for item in batch:
                    yield StorageItem(item["path"], item["last_modified"].timestamp())

    def _upload_object(self, name: str, source: BinaryIO) -> StoredFile:
        digest, size = hashlib.sha256(), 0
        first = source.read(UPLOAD_BLOCK_BYTES)

        def iter_blocks() -> Generator[bytes]:
            nonlocal size
            block = first
            while block:
                anyio.from_thread.check_cancelled()
                digest.update(block)
                size += len(block)
                yield block
                block = source.read(UPLOAD_BLOCK_BYTES)

        with self._translate_errors("stored"):
            if len(first) < UPLOAD_BLOCK_BYTES:
                _import_obstore().put(self._get_store(), _normalize_name(name), first)
                return StoredFile(len(first), hashlib.sha256(first).hexdigest())
            _import_obstore().put(
                self._get_store(),
                _normalize_name(name),
                iter_blocks(),
                chunk_size=UPLOAD_BLOCK_BYTES,
                max_concurrency=2,  # bounds memory: two parts in flight, and one being read
            )
        return StoredFile(size, digest.hexdigest())

    def _download_object(self, name: str, options: dict[str, tuple[int, int]]) -> bytes:
        return bytes(_import_obstore().get(self._get_store(), _normalize_name(name), options=options).bytes())

    def _get_store(self) -> "ObjectStore":
        if self._object_store is not None:
            return self._object_store
        library = _import_obstore()
        keys = {
            option: self._environ[name]
            for name, option in ENVIRONMENT_OPTIONS.items()
            if name.startswith(self._cloud) and self._environ.get(name)
        }
        config = keys | self._options
        client_options: Any = {"timeout": "60s", "connect_timeout": "5s"}
        if config.get("endpoint", self.location).startswith("http://"):
            client_options["allow_http"] = True
        retry_config = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
        try:
            store = library.store.from_url(
                self.location, config=config, client_options=client_options, retry_config=retry_config
            )
        except (library.exceptions.BaseError, ValueError) as error:
            raise _build_settings_error(_format_reason(error)) from None
        self._object_store = store
        return store

    @contextmanager
    def _translate_errors(self, action: str) -> Generator[None]:
        """Raise the library's errors as ours, and FileNotFoundError for a missing object."""
        access_hint = (
            "check the bucket's name and the rights of AWS_ACCESS_KEY_ID (or GOOGLE_…, AZURE_…); "
            "`outrider doctor` tests it"
        )
        connection_hint = (
            "check that the storage in `artifacts.storage` runs and can be reached; `outrider doctor` tests it"
        )
        errors = _import_obstore().exceptions
        try:
            yield
        except FileNotFoundError as error:
            if action == "read" and "NoSuchBucket" not in str(error):
                raise
            raise build_storage_error(f"the file cannot be {action}: {_format_reason(error)}", access_hint) from None
        except (errors.PermissionDeniedError, errors.UnauthenticatedError) as error:
            raise build_storage_error(f"the file cannot be {action}: {_format_reason(error)}", access_hint) from None
        except (errors.BaseError, OSError) as error:
            if "status code: 416" in str(error) or "InvalidRange" in str(error):
                raise _RangeNotSatisfiable from None
            raise build_storage_error(
                f"the file cannot be {action}: {_format_reason(error)}", connection_hint
            ) from None


class _RangeNotSatisfiable(Exception):
    """The requested range starts past the end."""


async def _iter_in_threads(source: Iterator[Item]) -> AsyncGenerator[Item]:
    while (item := await anyio.to_thread.run_sync(next, source, None)) is not None:
        yield item


def _import_obstore() -> Any:
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError:
        raise NotConfigured(
            "the library for object storage is not installed", code="storage", hint=suggest_extra("objects")
        ) from None
    return obstore


def _normalize_name(name: str) -> str:
    return str(uuid.UUID(name))


def _format_reason(error: BaseException) -> str:
    """Return the beginning of the library's message, without URLs, which may hold a signature."""
    first_line = (str(error) or type(error).__name__).splitlines()[0]
    return re.sub(r"https?://\S+", "the storage", first_line)[:160]


def _build_settings_error(reason: str) -> NotConfigured:
    return NotConfigured(
        f"artifacts.storage: {reason}",
        code="storage",
        hint="write s3://bucket/prefix?endpoint=https://…&region=…, and keys into AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY (or those of GOOGLE_… and AZURE_…)",
    )
