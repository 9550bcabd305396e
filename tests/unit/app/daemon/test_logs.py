"""Log to the daemon's file and to the host concerned."""

import logging
import stat
from pathlib import Path

from outrider.app.daemon.logs import (
    LOG_FILE,
    MAX_LOG_BYTES,
    HostLogHandler,
    LogTarget,
    PrivateLogFile,
    current_target,
    trim_output,
)


def record(text: str, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("outrider", level, __file__, 1, text, None, None)


def test_log_files_are_rotated_and_readable_by_their_owner_only(tmp_path: Path):
    file = PrivateLogFile(tmp_path / "daemon.log", maxBytes=100, backupCount=2, encoding="utf-8")
    for number in range(9):
        file.emit(record(f"{number} " * 20))
    file.close()
    kept = sorted(tmp_path.glob("daemon*"))
    assert [each.name for each in kept] == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in kept} == {0o600}


def test_a_host_gets_its_own_log_records_from_its_chosen_level():
    heard: list[str] = []
    handler = HostLogHandler()
    handler.emit(record("of nobody's work"))
    token = current_target.set(LogTarget(heard.append, logging.WARNING))
    try:
        handler.emit(record("yours"))
        handler.emit(record("too much", logging.INFO))
    finally:
        current_target.reset(token)
    assert heard == ["yours\n"]


def test_printed_output_of_programs_is_trimmed(tmp_path: Path):
    printed = (tmp_path / LOG_FILE).with_suffix(".out")
    printed.parent.mkdir()
    printed.write_bytes(b"x" * (MAX_LOG_BYTES + 1))
    trim_output(tmp_path)
    assert printed.stat().st_size == 0
    trim_output(tmp_path / "gone")
