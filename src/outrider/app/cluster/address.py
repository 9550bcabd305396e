"""Where other replicas reach this one, where nobody has said it (`serve.internal_url`)."""

import logging
from urllib.parse import urlsplit

import anyio

from outrider.core.egress.local_address import find_local_address

log = logging.getLogger(__name__)


async def find_advertised_address(address: str, database: str) -> str:
    """The address that others are told.

    What listens at all addresses of its machine is told by the one by which the machine reaches the database: the
    others reach that, too, so they are on the same network.

    Args:
        address: `http://host:port` of the listening socket.
        database: The address of the database that replicas share.
    """
    default_port = 5432
    wildcard_hosts = {"0.0.0.0": True, "::": False}  # noqa: S104 - addresses that stand for all; whether of IPv4 alone
    listening = urlsplit(address)
    if listening.hostname not in wildcard_hosts:
        return address
    try:
        shared = urlsplit(database)
        host, port = shared.hostname or "localhost", shared.port or default_port
        only_ipv4 = wildcard_hosts[listening.hostname]
        own = await anyio.to_thread.run_sync(lambda: find_local_address(host, port, only_ipv4=only_ipv4))
    except (OSError, ValueError):
        log.warning("other replicas cannot be told where this one is: set serve.internal_url")
        return address
    return f"http://[{own}]:{listening.port}" if ":" in own else f"http://{own}:{listening.port}"
