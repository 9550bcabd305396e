"""A server that stops listening serves every connection that it has accepted."""

import asyncio
import socket

import anyio

from outrider.core.egress.server_shutdown import stop_listening


async def test_connections_accepted_while_the_server_stops_are_served():
    served: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: served.append(writer), "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    callers = [socket.create_connection(address) for _ in range(20)]
    for _ in range(2):
        await asyncio.sleep(0)  # the loop has accepted it, but not handled it yet
    await stop_listening(server)
    assert len(served) == len(callers)
    for writer in served:
        writer.transport.abort()
    for each in callers:
        each.close()
    await anyio.lowlevel.checkpoint()


async def test_no_connection_is_accepted_after_the_stop():
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    await stop_listening(server)
    refused = False
    try:
        socket.create_connection(address).close()
    except ConnectionRefusedError:
        refused = True
    assert refused


async def test_a_cancelled_stop_still_stops_the_server():
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    stopping = asyncio.create_task(stop_listening(server))
    await asyncio.sleep(0)  # it has started
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    assert stopping.cancelled()
    assert not server.is_serving()
