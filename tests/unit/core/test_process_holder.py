"""Only leases of ended processes are free, and they are free at once."""

import os
import subprocess
import sys

from outrider.core.process_holder import build_holder, build_process_mark, is_holder_dead, is_process_gone

PRINT = "from outrider.core.process_holder import build_holder; print(build_holder(), flush=True); input()"


def test_a_holder_is_dead_once_its_process_has_ended():
    with subprocess.Popen(
        [sys.executable, "-c", PRINT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        holder = process.stdout.readline().strip()
        assert 32 < len(holder) <= 200
        assert not is_holder_dead(holder)
        process.kill()
    assert is_holder_dead(holder)


def test_this_process_and_those_of_other_machines_are_alive():
    assert not is_holder_dead(build_holder())
    assert build_holder() != build_holder()
    boot, namespace, pid, start = build_process_mark().split(" ")
    for stranger in (f"other {namespace} {pid} {start}", f"{boot} other 1 1", "elsewhere 1", "", "x", f"{boot} {pid}"):
        assert not is_process_gone(stranger), stranger


def test_a_reused_process_id_is_not_the_holder():
    boot, namespace, pid, start = build_process_mark().split(" ")
    assert int(pid) == os.getpid()
    assert is_process_gone(f"{boot} {namespace} {pid} {int(start) - 1}")
