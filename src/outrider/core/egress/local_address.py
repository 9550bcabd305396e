"""The address by which others see this machine."""

import socket


def find_local_address(host: str, port: int, *, only_ipv4: bool) -> str:
    """The address from which this machine would speak to another; nothing is sent.

    Args:
        host: The other's name or address.
        port: Any of its ports.
        only_ipv4: Whether an address of IPv6 would be of no use.

    Raises:
        OSError: The name is unknown, or no way leads there.
        ValueError: It is no name.
    """
    family = socket.AF_INET if only_ipv4 else socket.AF_UNSPEC
    kind, _, _, _, there = socket.getaddrinfo(host, port, family, socket.SOCK_DGRAM)[0]
    with socket.socket(kind, socket.SOCK_DGRAM) as asking:
        asking.connect(there)  # of a datagram socket: the kernel chooses the way, and sends nothing
        return asking.getsockname()[0]
