"""How a server of asyncio's stops listening without losing what it has just accepted."""

import asyncio


async def stop_listening(server: asyncio.Server) -> None:
    """Stops listening; connections go on.

    Up to Python 3.12 a connection that was accepted in the same turn of the loop in which the server closes becomes no
    transport, and its socket stays open until it is collected (CPython issue 109564). So the server first accepts
    nothing more, then closes when what it has accepted has become connections.
    """
    loop = asyncio.get_running_loop()
    for each in server.sockets:
        loop.remove_reader(each.fileno())
    try:
        for _ in range(3):  # the transport is made, its protocol is told, its handler begins
            await asyncio.sleep(0)
    finally:  # also when whoever stops it is cancelled meanwhile
        server.close()
