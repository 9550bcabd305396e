"""The client's pipes, once `relay/wire.py` has taken them away from everybody else."""

from typing import NamedTuple

from outrider.relay import stdio_pipes


class StdioDescriptors(NamedTuple):
    """Private descriptors of the client's pipes; children do not inherit them."""

    stdin: int
    stdout: int


def claim_stdio() -> StdioDescriptors:
    """Takes descriptors 0 and 1 away from the process: it now reads nothing and prints to stderr."""
    return StdioDescriptors(*stdio_pipes.claim_stdio())
