import importlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from outrider.core.discovery import discover_instances
from outrider.core.tool import Toolset

GROUP = "outrider.test_toolsets"
IMPORT = "from outrider.core.tool import Toolset\n"
MODULES = {
    "found_here/__init__.py": f"{IMPORT}not_in_a_module = Toolset('package', '')\n",
    "found_here/b_red.py": f"{IMPORT}red = Toolset('red', '')\nsame = red\nword = 'no toolset'\n",
    "found_here/a_blue.py": f"{IMPORT}blue = Toolset('blue', '')\n",
    "found_here/c_red_again.py": "from found_here.b_red import red\n",
    "found_here/d_empty.py": "",
    "plugged_in.py": f"{IMPORT}black = Toolset('black', '')\nword = 'no toolset'\n",
    "plugged_in-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plugged-in\nVersion: 1.0\n",
    "plugged_in-1.0.dist-info/entry_points.txt": f"""[{GROUP}]
absent = plugged_in:green
gone = nowhere_to_be_found:x
good = plugged_in:black
word = plugged_in:word
""",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A folder of modules on the path, and an installed plugin."""
    for name, text in MODULES.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield importlib.import_module("found_here")
    for name in [name for name in sys.modules if name.split(".")[0] in {"found_here", "plugged_in"}]:
        del sys.modules[name]


def test_instances_in_a_folder_are_found_once_in_module_order(package: ModuleType):
    assert [each.name for each in discover_instances(package, Toolset)] == ["blue", "red"]


def test_instances_from_plugins_come_last(package: ModuleType):
    assert [each.name for each in discover_instances(package, Toolset, group=GROUP)] == ["blue", "red", "black"]


def test_a_plugin_installed_later_is_found(package: ModuleType, tmp_path: Path):
    discover_instances(package, Toolset, group=GROUP)
    described = tmp_path / "site" / "later-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: later\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[{GROUP}]\nlater = found_here:not_in_a_module\n")
    found = discover_instances(package, Toolset, group=GROUP)
    assert sorted(each.name for each in found) == ["black", "blue", "package", "red"]


def test_a_plugin_that_cannot_be_used_is_named_in_a_warning_and_left_out(
    package: ModuleType, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        discover_instances(package, Toolset, group=GROUP)
    warnings = sorted(record.getMessage() for record in caplog.records)
    assert [warning.split(": ")[0] for warning in warnings] == [
        "plugin absent (plugged_in:green) cannot be loaded",
        "plugin gone (nowhere_to_be_found:x) cannot be loaded",
        "plugin word (plugged_in:word) is not a Toolset",
    ]


def test_without_a_group_no_plugin_is_loaded(package: ModuleType):
    discover_instances(package, Toolset)
    assert "plugged_in" not in sys.modules
