"""The command. What must happen before anything else is imported, happens here."""

import gc
import sys


def main() -> None:
    """Runs `outrider`."""
    help_flags = ("--help", "-h")
    # Imports make hundreds of thousands of objects that stay: collecting among them costs a tenth of the start.
    # The commands import most of what they need, so it is they who turn it on again (cli/output.py, settle).
    gc.disable()
    serves = sys.argv[1:2] == ["mcp"] and not any(each in sys.argv for each in help_flags)
    wire = _relay_to_daemon() if serves else None
    from outrider.cli import run_command_line

    run_command_line(wire)


def _relay_to_daemon() -> tuple[int, int]:
    """Relays to the one process of this user; returns the client's pipes where there can be none."""
    from outrider.relay.stdio_pipes import claim_stdio

    wire = claim_stdio()
    from outrider import __version__
    from outrider.relay.relay import run_relay

    code = run_relay(sys.argv[2:], wire, __version__)
    if code is not None:
        sys.exit(code)
    return wire


if __name__ == "__main__":
    main()
