"""The one warm process of a person and a data directory: every host's relay (`outrider.relay`) comes here."""

from outrider.app.daemon.daemon import Daemon, HostRefusal
from outrider.app.daemon.host_config import HostConfig

__all__ = ["Daemon", "HostConfig", "HostRefusal"]
