"""Forward a sandbox's loopback port to the egress proxy's socket.

The sandbox has no other network.

Run by its path (`python -I -S sandbox_forwarder.py PORT SOCKET COMMAND…`), it starts to listen, leaves a process behind
that forwards the bytes, and becomes the command. It imports nothing of the package, which is not in the sandbox.
"""

import os
import socket
import sys
import threading


def main(port: int, path: str, command: list[str]) -> None:
    """Start the forwarding process, and become the command."""
    listener = socket.create_server(("127.0.0.1", port))
    intermediate = os.fork()
    if not intermediate:
        if not os.fork():  # forked twice, so that it is not a child for which the command waits
            # The standard streams belong to the command.
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(path)
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=_copy_bytes, args=(source, target), daemon=True).start()
        os._exit(0)
    os.waitpid(intermediate, 0)
    listener.close()
    try:
        os.execvp(command[0], command)  # noqa: S606 - the purpose of this script
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


def _copy_bytes(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
