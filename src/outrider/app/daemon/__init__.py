"""The shared process of a person and a data directory, to which the relay of every host connects."""

from outrider.app.daemon.daemon import Daemon, HostRefusal
from outrider.app.daemon.host_config import HostConfig

__all__ = ["Daemon", "HostConfig", "HostRefusal"]
