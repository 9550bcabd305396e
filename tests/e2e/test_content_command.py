"""`outrider content` stores, lists, finds and reindexes contents from the command line."""

import json
import subprocess
from pathlib import Path

import pytest

from support.processes import outrider_command

pytestmark = pytest.mark.usefixtures("tables")


def run_content_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        outrider_command.build_command("content", *arguments), capture_output=True, text=True, check=False
    )


def test_files_are_kept_listed_found_and_indexed_again(home: Path):
    (home / "tea.md").write_text("# Tea\n\nGreen tea is steeped at eighty degrees.\n")
    kept = run_content_command("add", "tea.md", "--json")
    assert kept.returncode == 0, kept.stderr
    [row] = json.loads(kept.stdout)
    [listed] = json.loads(run_content_command("list", "--json").stdout)
    assert listed["contentId"] == row["contentId"]
    [hit] = json.loads(run_content_command("search", "steeping", "teas", "--json").stdout)
    assert (hit["contentId"], hit["lineRange"]) == (row["contentId"], [1, 3])
    for file in (home / ".outrider" / "content").rglob("*.db"):
        file.unlink()
    assert "1 index rebuilt" in run_content_command("rebuild").stdout
    assert "tea.md" in run_content_command("search", "tea").stdout
    assert run_content_command("search", "zeppelin").returncode == 1
    assert run_content_command("search", "tea", "--session", "another").returncode == 1
    (home / "more" / ".hidden").mkdir(parents=True)
    (home / "more" / ".hidden" / "no.txt").write_text("hidden words")
    (home / "more" / "b.csv").write_text("name,score\ncoffee,1\n")
    (home / "more" / "broken.pdf").write_bytes(b"%PDF-1.4 not really")
    partly = run_content_command("add", "more", "--json")
    assert partly.returncode == 1
    assert "broken.pdf" in partly.stderr
    assert [each["filename"] for each in json.loads(partly.stdout)] == ["b.csv"]
    assert run_content_command("search", "hidden").returncode == 1
    missing = run_content_command("add", "nowhere.txt")
    assert missing.returncode == 2
    assert "nowhere.txt" in missing.stderr
