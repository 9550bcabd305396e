"""Stop an asyncio server without losing connections that it has just accepted."""

import asyncio


async def stop_listening(server: asyncio.Server) -> None:
    """Stop listening; open connections continue.

    Up to Python 3.12 a connection accepted in the same loop iteration in which the server closes gets no transport, and
    its socket leaks until it is collected (CPython issue 109564). So the server first stops accepting, and is closed
    when accepted connections have their transports.
    """
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    try:
        for _ in range(3):  # one iteration each for the transport, its protocol and its handler
            await asyncio.sleep(0)
    finally:  # also when the caller is cancelled in the meantime
        server.close()
