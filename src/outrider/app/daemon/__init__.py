"""The one warm process of a person and a data directory: every host's relay (`outrider.relay`) comes here."""

from outrider.app.daemon.daemon import Daemon, Refusal
from outrider.app.daemon.wish import Wish

__all__ = ["Daemon", "Refusal", "Wish"]
