"""Inside a sandbox without a network: a port of its loopback that leads to the egress proxy's socket.

Run there by its path (`python -I -S inside.py PORT SOCKET COMMAND…`): it begins to listen, leaves a process behind
that carries the bytes, and becomes the command. It imports nothing of the package, which is not in the sandbox.
"""

import os
import socket
import sys
import threading


def main(port: int, path: str, command: list[str]) -> None:
    """Listens, and becomes the command."""
    listener = socket.create_server(("127.0.0.1", port))
    middle = os.fork()
    if not middle:
        if not os.fork():  # nobody's child: the command finds no stranger when it waits for its own
            _silent()
            _forward_connections(listener, path)
        os._exit(0)
    os.waitpid(middle, 0)
    listener.close()
    try:
        os.execvp(command[0], command)  # noqa: S606 - this is what it is for
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


def _silent() -> None:
    """The streams are the command's."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def _forward_connections(listener: socket.socket, path: str) -> None:
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(path)
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=_copy_bytes, args=(source, target), daemon=True).start()


def _copy_bytes(source: socket.socket, target: socket.socket) -> None:
    read_bytes = 65_536
    try:
        while piece := source.recv(read_bytes):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
