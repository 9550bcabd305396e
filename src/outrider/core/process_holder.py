"""Name the process that holds a lease, so that others of this machine notice its death at once."""

import os
import platform
import uuid


def build_holder() -> str:
    """Return a name for this process that no other holder has, of at most 200 characters."""
    return f"{uuid.uuid4().hex} {os.getpid()} {platform.node()}"[:200]


def is_holder_dead(holder: str) -> bool:
    """Return whether a lease's holder was a process of this machine that no longer exists."""
    _, _, location = holder.partition(" ")
    pid, _, node = location.partition(" ")
    if os.name == "nt" or node != platform.node() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's process
        return False
    return False
