"""Decides where requests may go, and dials: the vetted address and no other."""

import os
from collections.abc import Sequence

import anyio
from anyio.abc import SocketStream

from outrider.core.egress.addresses import IpAddress, parse_address
from outrider.core.egress.policy import EgressPolicy, EgressSettings
from outrider.core.egress.resolve import ResolveFunction, SystemResolver
from outrider.core.egress.target import QueryParams, RequestTarget, parse_target
from outrider.core.egress.upstream import open_tunnel
from outrider.core.errors import Refused, Unavailable


class EgressGuard:
    """One policy, and the only way to a socket.

    A name is resolved once for each connection; every answer is vetted, those that the policy
    refuses are left out, and the rest is what gets dialled. When nothing rests the name is refused.

    Args:
        policy: What may be reached.
        resolve: From a host name to addresses as text; the default asks the operating system.
    """

    def __init__(self, policy: EgressSettings | None = None, resolve: ResolveFunction | None = None) -> None:
        self.policy = EgressPolicy(policy or EgressSettings())
        self._resolve = resolve or SystemResolver()

    def check_url(
        self, url: str, *, base: str | None = None, params: QueryParams = None, trusted: bool = False
    ) -> RequestTarget:
        """The target behind an address, refused already if no resolver could make it good.

        Args:
            url: As somebody wrote it.
            base: The address that a relative one starts from.
            params: Added to the query.
            trusted: The address comes from the operator: private ones and all ports are fine.

        Raises:
            InvalidInput: code `bad_url`.
            Refused: code `egress`.
        """
        target = parse_target(url, base=base, params=params)
        self.check_host(target.host, target.port, trusted=trusted)
        return target

    def check_host(self, host: str, port: int, *, trusted: bool = False) -> None:
        """As `check`, for a host in its canonical spelling (`Target.host`)."""
        address = _parse_literal(host)
        if address is None:
            self.policy.check_name(host, port, trusted=trusted)
        else:
            self.policy.check_address(host, port, address, trusted=trusted)

    async def resolve_addresses(self, host: str, port: int, *, trusted: bool = False) -> list[IpAddress]:
        """The addresses of a canonical host that may be dialled, at least one.

        Raises:
            Refused: code `egress`; none of them may be.
            Unavailable: code `dns`; there are none.
        """
        self.check_host(host, port, trusted=trusted)
        literal = _parse_literal(host)
        if literal is not None:
            return [literal]
        answers = [parse_address(each) for each in await self._resolve(host)]
        if not answers:
            raise Unavailable(f"the name {host} has no address", code="dns", hint="check the host name")
        return self._filter_permitted(host, port, answers, trusted=trusted)

    async def dial(self, host: str, port: int, *, trusted: bool = False) -> SocketStream:
        """A TCP connection to a canonical host, at one of its vetted addresses, or through the operator's proxy.

        Raises:
            Refused: code `egress`.
            Unavailable: code `dns` or `connect`.
        """
        max_addresses = 8  # addresses of one name that are tried
        proxy = self.policy.settings.proxy
        if proxy and not trusted:
            self.check_host(host, port)
            return await open_tunnel(proxy.get_secret_value(), host, port)
        addresses = await self.resolve_addresses(host, port, trusted=trusted)
        return await _connect_first(host, addresses[:max_addresses], port)

    def _filter_permitted(
        self, host: str, port: int, answers: Sequence[IpAddress], *, trusted: bool
    ) -> list[IpAddress]:
        permitted: list[IpAddress] = []
        refusal: Refused | None = None
        for address in dict.fromkeys(answers):
            try:
                self.policy.check_address(host, port, address, trusted=trusted)
            except Refused as error:
                refusal = refusal or error
            else:
                permitted.append(address)
        if refusal and not permitted:
            raise refusal
        return permitted


def _parse_literal(host: str) -> IpAddress | None:
    if not (":" in host or host[-1:].isdigit()):
        return None
    try:
        return parse_address(host)
    except ValueError:
        return None


async def _connect_first(host: str, addresses: Sequence[IpAddress], port: int) -> SocketStream:
    """The first connection that stands; a slow address does not hold up the next (RFC 8305)."""
    attempt_delay_s = 0.25  # seconds before the next address is tried beside the last, RFC 8305 section 5
    winner: list[SocketStream] = []
    reasons: list[str] = []

    async def try_address(address: IpAddress, tried: anyio.Event) -> None:
        try:
            stream = await anyio.connect_tcp(str(address), port)
        except OSError as error:
            reasons.append(_describe_error(error))
        else:
            if winner:
                await stream.aclose()
            winner.append(stream)
            race.cancel_scope.cancel()
        finally:
            tried.set()

    try:
        async with anyio.create_task_group() as race:
            for address in addresses:
                tried = anyio.Event()
                race.start_soon(try_address, address, tried)
                with anyio.move_on_after(attempt_delay_s):
                    await tried.wait()
    except BaseException:
        await anyio.aclose_forcefully(winner[0]) if winner else None
        raise
    if winner:
        return winner[0]
    message = f"no connection to {host}:{port}: {reasons[0]}"
    raise Unavailable(message, code="connect", hint="check the host and the port, or try later")


def _describe_error(error: OSError) -> str:
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    number = cause.errno or 0
    return os.strerror(number).lower() if number > 0 else "it cannot be reached"
