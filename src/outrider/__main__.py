"""The command. What must happen before anything else is imported, happens here."""

import gc
import sys


def main() -> None:
    """Runs `outrider`."""
    # Imports make hundreds of thousands of objects that stay: collecting among them costs a tenth of the start.
    # The commands import most of what they need, so it is they who turn it on again (cli/output.py, settle).
    gc.disable()
    serves = sys.argv[1:2] == ["mcp"] and "--help" not in sys.argv
    wire = _claimed() if serves else None
    from outrider.cli import run

    run(wire)


def _claimed() -> tuple[int, int]:
    from outrider.serve.wire import claim

    return claim()


if __name__ == "__main__":
    main()
