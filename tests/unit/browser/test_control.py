"""Session control and input queue over the real CDP client, with the test as the browser."""

from typing import Any

import anyio
import pytest

from outrider.browser.live.control import MAX_QUEUED_INPUTS, MAX_UNANSWERED_INPUTS, SessionControl
from outrider.browser.live.control_input import (
    MAX_CLICK_COUNT,
    MAX_COORDINATE_PX,
    MAX_TEXT_CHARS,
    MAX_WHEEL_DELTA_PX,
    InputRejected,
    parse_input,
)
from outrider.browser.live.pause_gate import PauseGate
from outrider.browser.protocol.cdp import CdpConnection
from outrider.browser.protocol.page import BrowserPage
from support.fakes.cdp_transport import FakeCdpTransport

pytestmark = pytest.mark.anyio


class ControlledPage:
    """A session control with its page."""

    def __init__(self) -> None:
        self.wire = FakeCdpTransport()
        self.connection = CdpConnection(self.wire)
        self.connection.start()
        self.page: BrowserPage | None = BrowserPage("target", self.connection.get_channel("s"))
        self.gate = PauseGate(30)
        self.handed_back = 0
        self.control = SessionControl(self.gate, lambda: self.page, self._count)

    def _count(self) -> None:
        self.handed_back += 1


@pytest.fixture
async def live_control():
    controlled = ControlledPage()
    yield controlled
    await controlled.connection.aclose()


CLICK = {"x": 10, "y": 20, "button": "left", "click_count": 1, "modifiers": 0}


async def test_input_is_accepted_only_from_the_holder_and_while_paused(live_control: ControlledPage):
    control = live_control.control
    assert control.submit_input("ada", "input_click", CLICK).to_dict() == {"ok": False, "error": "not_holder"}
    assert control.take_control("ada").ok
    assert control.paused
    assert control.submit_input("bob", "input_click", CLICK).error == "not_holder"
    assert control.submit_input("ada", "input_click", CLICK).to_dict() == {"ok": True, "queued": True, "dropped": False}
    assert control.resume("ada").ok
    assert control.submit_input("ada", "input_click", CLICK).error == "not_paused"
    control.pause()
    live_control.page = None
    assert control.submit_input("ada", "input_click", CLICK).error == "no_active_session"


async def test_one_connection_holds_control_and_losing_it_releases_control(live_control: ControlledPage):
    control = live_control.control
    assert control.take_control("ada").ok
    since = control.held_since
    assert control.take_control("ada").ok
    assert control.held_since == since
    assert control.take_control("bob").error == "not_holder"
    assert control.release_control("bob").error == "not_holder"
    control.handle_disconnect("bob")
    assert control.holder == "ada"
    control.handle_disconnect("ada")
    assert (control.holder, control.held_since, control.paused) == (None, None, False)
    assert live_control.handed_back == 1
    assert control.take_control("bob").ok


async def test_resuming_without_control_hands_nothing_back(live_control: ControlledPage):
    live_control.control.pause()
    assert live_control.control.resume("anybody").ok
    assert live_control.handed_back == 0


async def test_a_click_is_sent_as_a_move_presses_and_releases(live_control: ControlledPage):
    live_control.control.take_control("ada")
    live_control.control.submit_input(
        "ada", "input_click", CLICK | {"click_count": 2, "button": "right", "modifiers": ["Shift"]}
    )
    assert live_control.wire.list_input_parameters("type", "button", "buttons", "clickCount", "modifiers") == [
        ("mouseMoved", None, None, None, 8),
        ("mousePressed", "right", 2, 1, 8),
        ("mouseReleased", "right", 0, 1, 8),
        ("mousePressed", "right", 2, 2, 8),
        ("mouseReleased", "right", 0, 2, 8),
    ]


async def test_held_keys_and_buttons_apply_to_later_input_and_are_released_at_the_end(live_control: ControlledPage):
    control = live_control.control
    control.take_control("ada")
    control.submit_input("ada", "input_keydown", {"key": "Shift", "code": "ShiftLeft"})
    control.submit_input("ada", "input_down", {"x": 1, "y": 1})
    control.submit_input("ada", "input_move", {"x": 5, "y": 6})
    control.submit_input("ada", "input_keydown", {"key": "A", "code": "KeyA", "repeat": True})
    control.release_control("ada")
    assert live_control.wire.list_input_parameters("type", "key", "modifiers", "buttons") == [
        ("rawKeyDown", "Shift", 8, None),
        ("mousePressed", None, 8, 1),
        ("mouseMoved", None, 8, 1),
        ("keyDown", "A", 8, None),
        ("mouseReleased", None, 8, 0),
        ("keyUp", "Shift", 0, None),
        ("keyUp", "A", 0, None),
    ]
    assert live_control.wire.sent[3]["params"]["autoRepeat"] is True


async def test_typed_text_is_sent_as_one_event(live_control: ControlledPage):
    live_control.control.take_control("ada")
    live_control.control.submit_input("ada", "input_type", {"text": "naïve 日本"})
    assert [each["params"] for each in live_control.wire.sent] == [{"text": "naïve 日本"}]


async def test_a_slow_page_gets_merged_moves_and_loses_the_oldest_input(live_control: ControlledPage):
    live_control.wire.is_replying = False
    control = live_control.control
    control.take_control("ada")
    for number in range(MAX_UNANSWERED_INPUTS):
        control.submit_input("ada", "input_type", {"text": f"{number}"})
    for x in range(50):
        control.submit_input("ada", "input_move", {"x": x, "y": 0})
    control.submit_input("ada", "input_wheel", {"x": 49, "y": 0, "delta_x": 1, "delta_y": 10})
    control.submit_input("ada", "input_wheel", {"x": 49, "y": 0, "delta_x": 2, "delta_y": 20})
    assert len(live_control.wire.sent) == MAX_UNANSWERED_INPUTS
    assert control.serialize_state()["queued"] == 2
    for _ in range(MAX_QUEUED_INPUTS - 2):
        assert not control.submit_input("ada", "input_keydown", {"key": "a"}).dropped
    answer = control.submit_input("ada", "input_keydown", {"key": "b"})
    assert answer.to_dict() == {"ok": True, "queued": True, "dropped": True}
    live_control.wire.reply_to_command(live_control.wire.sent[0])
    await anyio.lowlevel.checkpoint()
    await anyio.lowlevel.checkpoint()
    assert live_control.wire.sent[MAX_UNANSWERED_INPUTS]["params"]["deltaY"] == 30
    control.release_control("ada")
    assert control.serialize_state()["queued"] == 0


@pytest.mark.parametrize(
    ("kind", "payload", "error"),
    [
        ("input_click", None, "invalid_payload"),
        ("input_click", [], "invalid_payload"),
        ("input_fly", {}, "invalid_payload"),
        ("input_click", CLICK | {"extra": 1}, "invalid_payload"),
        ("input_click", CLICK | {"modifiers": 16}, "invalid_payload"),
        ("input_click", CLICK | {"modifiers": ["Hyper"]}, "invalid_payload"),
        ("input_click", CLICK | {"x": -1}, "invalid_coordinates"),
        ("input_click", CLICK | {"x": MAX_COORDINATE_PX + 1}, "invalid_coordinates"),
        ("input_click", CLICK | {"x": "10"}, "invalid_coordinates"),
        ("input_click", CLICK | {"x": True}, "invalid_coordinates"),
        ("input_move", {"x": float("nan"), "y": 0}, "invalid_coordinates"),
        ("input_move", {"x": float("inf"), "y": 0}, "invalid_coordinates"),
        ("input_move", {"x": 0}, "invalid_coordinates"),
        ("input_click", CLICK | {"button": "back"}, "invalid_button"),
        ("input_click", CLICK | {"button": ["left"]}, "invalid_button"),
        ("input_click", CLICK | {"click_count": 0}, "invalid_click_count"),
        ("input_click", CLICK | {"click_count": MAX_CLICK_COUNT + 1}, "invalid_click_count"),
        ("input_click", CLICK | {"click_count": True}, "invalid_click_count"),
        ("input_wheel", {"x": 0, "y": 0, "delta_y": MAX_WHEEL_DELTA_PX + 1}, "invalid_wheel_delta"),
        ("input_wheel", {"x": 0, "y": 0, "delta_x": "1"}, "invalid_wheel_delta"),
        ("input_keydown", {"key": ""}, "invalid_key"),
        ("input_keydown", {"key": "Hyperspace"}, "invalid_key"),
        ("input_keydown", {"key": 7}, "invalid_key"),
        ("input_keydown", {"key": "a", "code": 7}, "invalid_key"),
        ("input_keydown", {"key": "a", "repeat": "yes"}, "invalid_payload"),
        ("input_type", {}, "invalid_text"),
        ("input_type", {"text": ""}, "invalid_text"),
        ("input_type", {"text": 7}, "invalid_text"),
        ("input_type", {"text": "x" * (MAX_TEXT_CHARS + 1)}, "text_too_long"),
    ],
)
async def test_invalid_input_is_refused_with_an_error_code(
    live_control: ControlledPage, kind: str, payload: Any, error: str
):
    live_control.control.take_control("ada")
    assert live_control.control.submit_input("ada", kind, payload).to_dict() == {"ok": False, "error": error}
    assert live_control.wire.sent == []
    with pytest.raises(InputRejected, match=error):
        parse_input(kind, payload)
