"""Find the address at which other replicas reach this one.

It is used if `serve.internal_url` is not set.
"""

import logging
from urllib.parse import urlsplit

import anyio

from outrider.core.egress.addresses import find_local_address

log = logging.getLogger(__name__)


async def find_advertised_address(address: str, database: str) -> str:
    """Return the address to advertise to other replicas.

    For a wildcard address, this is the local address from which the machine reaches the database, because the other
    replicas reach the database too.

    Args:
        address: `http://host:port` of the listening socket.
        database: The address of the shared database.
    """
    default_port = 5432
    wildcard_hosts = {"0.0.0.0": True, "::": False}  # noqa: S104 - whether they mean IPv4 addresses only
    listening = urlsplit(address)
    if listening.hostname not in wildcard_hosts:
        return address
    try:
        shared = urlsplit(database)
        host, port = shared.hostname or "localhost", shared.port or default_port
        only_ipv4 = wildcard_hosts[listening.hostname]
        own = await anyio.to_thread.run_sync(lambda: find_local_address(host, port, only_ipv4=only_ipv4))
    except (OSError, ValueError):
        log.warning("other replicas cannot reach this process: set serve.internal_url")
        return address
    return f"http://[{own}]:{listening.port}" if ":" in own else f"http://{own}:{listening.port}"
