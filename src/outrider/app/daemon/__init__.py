"""The shared process of a person and a data directory.

The relay of every host connects to it.
"""

from outrider.app.daemon.daemon import Daemon, HostRefusal
from outrider.app.daemon.host_config import HostConfig

__all__ = ["Daemon", "HostConfig", "HostRefusal"]
