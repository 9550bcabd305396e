"""Delete old files of authenticated people."""

import os
import time
from pathlib import Path

from outrider.app.identity_cleanup import delete_old_files

DAY = 86_400


def test_old_files_go_and_young_ones_stay_where_they_are(tmp_path: Path):
    for name, days in (("a/images/old.png", 40), ("a/images/deep/old.png", 40), ("b/young.png", 1)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        then = time.time() - days * DAY
        os.utime(path, (then, then))
    outside = tmp_path.parent / "outside.txt"
    outside.write_text("kept")
    os.utime(outside, (0, 0))
    (tmp_path / "a" / "link").symlink_to(outside)
    assert delete_old_files(tmp_path, 30 * DAY) == 2
    assert [path.name for path in tmp_path.rglob("*.png")] == ["young.png"]
    assert outside.read_text() == "kept"
    assert delete_old_files(tmp_path / "nowhere", 1) == 0
