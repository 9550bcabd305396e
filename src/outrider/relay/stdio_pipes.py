"""Reserve standard output for JSON-RPC.

That lasts from before the first import until after the last exit hook.

A library that prints while it is imported, a child process that inherits the descriptor, or an exit
hook that prints would break the client's parser. So the real pipes move to private descriptors, and
stdout becomes stderr. This must run before anything else is imported, hence only `os` and `sys`.
"""

import os
import sys


def claim_stdio() -> tuple[int, int]:
    """Redirect descriptor 0 to nothing and 1 to stderr.

    Returns private descriptors of the client's pipes, which children do not inherit.
    """
    sys.stdout.flush()
    pipes = (os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return pipes
