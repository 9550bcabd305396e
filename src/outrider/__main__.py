"""Entry point of the command.

It takes the steps that must come before other imports.
"""

import gc
import os
import sys


def main() -> None:
    """Run `outrider`."""
    # Imports create very many objects that stay alive, so collections would slow down the start.
    # The commands do most imports, so they turn the collector on again (cli/output.py).
    gc.disable()
    if sys.argv[1:2] != ["mcp"]:  # the relay imports too little to be interrupted meanwhile
        import signal

        # Ctrl-C during imports ends the process without a traceback; running commands restore KeyboardInterrupt.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] in (["call"], ["browser"]):
        from outrider.quick_call import run_quick_call

        exit_code = run_quick_call(sys.argv[1:])
        if exit_code is not None:
            sys.exit(exit_code)
    serves_host = sys.argv[1:2] == ["mcp"] and not any(flag in sys.argv for flag in ("--help", "-h"))
    pipes = _relay_to_daemon() if serves_host else None
    from outrider.cli import run_command_line

    run_command_line(pipes)


def _relay_to_daemon() -> tuple[int, int]:
    """Relay to the user's daemon until the host ends, or return the host's pipes if none runs."""
    from outrider.relay.stdio_pipes import claim_stdio

    pipes = claim_stdio()
    if os.isatty(pipes[0]):
        os.write(2, b"outrider mcp waits for a host's messages; `outrider install` adds it to hosts (Ctrl-D ends it)\n")
    from outrider import __version__
    from outrider.relay.relay import run_relay

    exit_code = run_relay(sys.argv[2:], pipes, __version__)
    if exit_code is not None:
        sys.exit(exit_code)
    return pipes


if __name__ == "__main__":
    main()
