"""Keeps standard output for JSON-RPC alone, from before the first import until after the last exit hook.

A library that prints while it is imported, a child process that inherits the descriptor, an exit
hook that says goodbye: each would break the client's parser. So the real pipes move to private
descriptors and what everybody believes to be stdout becomes stderr. This must run before anything
else is imported, hence only `os` and `sys`.
"""

import os
import sys


def claim_stdio() -> tuple[int, int]:
    """Takes descriptors 0 and 1 away from the process: it now reads nothing and prints to stderr.

    Returns private descriptors of the client's pipes; children do not inherit them.
    """
    sys.stdout.flush()
    wire = (os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire
