"""Finding, starting and installing a browser."""

from pathlib import Path

import pytest

from outrider.browser.process import flags
from outrider.browser.process.find import find_browser
from outrider.browser.process.install import iter_install_methods
from outrider.browser.process.status import collect_status
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured


def write_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_only_the_configured_browser_is_used(tmp_path):
    mine = write_program(tmp_path / "my-chromium")
    assert find_browser(str(mine)).path == mine
    with pytest.raises(NotConfigured, match="not a program"):
        find_browser(str(tmp_path / "nothing"))


def test_playwrights_newest_whole_build_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("outrider.browser.process.find.LINUX_PATHS", ())
    monkeypatch.setattr("outrider.browser.process.find.MAC_PATHS", ())
    builds = tmp_path / "builds"
    write_program(builds / "chromium-900" / "chrome-linux" / "chrome")
    newest = write_program(builds / "chromium-1200" / "chrome-linux" / "chrome")
    write_program(builds / "chromium_headless_shell-1300" / "chrome-linux" / "headless_shell")
    environ = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(builds)}
    assert find_browser(environ=environ).path == newest
    with pytest.raises(NotConfigured) as missing:
        find_browser(environ={"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "none")})
    assert "outrider browser install" in missing.value.hint


def test_disabled_features_are_merged_into_one_flag(tmp_path):
    line = flags.build_command_line(
        tmp_path, headless=True, sandbox=True, proxy="http://127.0.0.1:9", extra=("--disable-features=Mine",)
    )
    off = [each for each in line if each.startswith("--disable-features=")]
    assert len(off) == 1
    assert "Mine" in off[0]
    assert "WebUIOmniboxPopup" in off[0]
    assert "--no-sandbox" not in line
    assert "--proxy-bypass-list=<-loopback>" in line


def test_without_a_proxy_no_proxy_flag_is_passed(tmp_path):
    line = flags.build_command_line(tmp_path, headless=True, sandbox=False, proxy=None)
    assert not [each for each in line if each.startswith("--proxy")]
    assert "--no-sandbox" in line


def test_debian_gets_its_own_package_and_ubuntu_does_not(tmp_path, monkeypatch):
    write_program(tmp_path / "apt-get")
    write_program(tmp_path / "npx")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nVERSION_ID="12"\n')
    first, second = iter_install_methods(release)
    assert first.commands[1][:2] == ("apt-get", "install")
    assert "chromium" in first.commands[1]
    assert second.commands[0][-2:] == ("install", "chromium")
    release.write_text("ID=ubuntu\nID_LIKE=debian\n")
    assert [way.title for way in iter_install_methods(release)] == ["Playwright's Chromium"]


def test_the_status_warns_of_weakened_protection():
    facts = collect_status(BrowserSettings(sandbox=False))
    assert not facts["sandbox"]
    assert "sandbox is off" in facts["warnings"][0]
    attached = collect_status(BrowserSettings.model_validate({"cdp_urls": ["ws://a.example/x"]}))
    assert not attached["guarded"]
    assert "a.example" not in str(attached)
    missing = collect_status(BrowserSettings(executable="/nowhere/x"))
    assert missing["executable"] is None
