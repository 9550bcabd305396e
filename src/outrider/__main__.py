"""The command. What must happen before anything else is imported, happens here."""

import gc
import sys

HELP = ("--help", "-h")


def main() -> None:
    """Runs `outrider`."""
    # Imports make hundreds of thousands of objects that stay: collecting among them costs a tenth of the start.
    # The commands import most of what they need, so it is they who turn it on again (cli/output.py, settle).
    gc.disable()
    serves = sys.argv[1:2] == ["mcp"] and not any(each in sys.argv for each in HELP)
    wire = _served_elsewhere() if serves else None
    from outrider.cli import run

    run(wire)


def _served_elsewhere() -> tuple[int, int]:
    """Relays to the one process of this user; returns the client's pipes where there can be none."""
    from outrider.relay.wire import claim

    wire = claim()
    from outrider import __version__
    from outrider.relay.relaying import relayed

    code = relayed(sys.argv[2:], wire, __version__)
    if code is not None:
        sys.exit(code)
    return wire


if __name__ == "__main__":
    main()
