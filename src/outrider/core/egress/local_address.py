"""Find the address by which others reach this machine."""

import socket


def find_local_address(host: str, port: int, *, only_ipv4: bool) -> str:
    """Return the local address from which another host would be contacted; nothing is sent.

    Args:
        host: The other host's name or address.
        port: Any of its ports.
        only_ipv4: Whether only IPv4 is usable.

    Raises:
        OSError: The name is unknown, or no route leads there.
        ValueError: It is not a name.
    """
    family = socket.AF_INET if only_ipv4 else socket.AF_UNSPEC
    address_family, _, _, _, peer = socket.getaddrinfo(host, port, family, socket.SOCK_DGRAM)[0]
    with socket.socket(address_family, socket.SOCK_DGRAM) as probe:
        probe.connect(peer)  # a datagram socket: the kernel chooses the route, and sends nothing
        return probe.getsockname()[0]
