"""Who may act in a session, and what becomes of inputs: over the real protocol client, with a browser played here."""

from typing import Any

import anyio
import pytest

from outrider.browser.cdp import Connection
from outrider.browser.control import Control
from outrider.browser.control_input import CLICKS, FARTHEST, TURN, TYPED, Rejected, read_input
from outrider.browser.control_queue import AHEAD, LIMIT
from outrider.browser.gate import Gate
from outrider.browser.page import Page
from support.fakes.cdp_transport import Wire

pytestmark = pytest.mark.anyio


class Hall:
    """A control with its page."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.connection = Connection(self.wire)
        self.connection.start()
        self.page: Page | None = Page("target", self.connection.channel("s"))
        self.gate = Gate(30)
        self.handed_back = 0
        self.control = Control(self.gate, lambda: self.page, self._count)

    def _count(self) -> None:
        self.handed_back += 1


@pytest.fixture
async def hall():
    made = Hall()
    yield made
    await made.connection.aclose()


CLICK = {"x": 10, "y": 20, "button": "left", "click_count": 1, "modifiers": 0}


async def test_input_is_taken_from_the_holder_alone_and_only_while_paused(hall: Hall):
    control = hall.control
    assert control.input("ada", "input_click", CLICK).facts() == {"ok": False, "error": "not_holder"}
    assert control.take("ada").ok
    assert control.paused
    assert control.input("bob", "input_click", CLICK).error == "not_holder"
    assert control.input("ada", "input_click", CLICK).facts() == {"ok": True, "queued": True, "dropped": False}
    assert control.resume("ada").ok
    assert control.input("ada", "input_click", CLICK).error == "not_paused"
    control.pause()
    hall.page = None
    assert control.input("ada", "input_click", CLICK).error == "no_active_session"


async def test_one_connection_holds_at_a_time_and_losing_it_releases(hall: Hall):
    control = hall.control
    assert control.take("ada").ok
    since = control.held_since
    assert control.take("ada").ok
    assert control.held_since == since
    assert control.take("bob").error == "not_holder"
    assert control.release("bob").error == "not_holder"
    control.gone("bob")
    assert control.holder == "ada"
    control.gone("ada")
    assert (control.holder, control.held_since, control.paused) == (None, None, False)
    assert hall.handed_back == 1
    assert control.take("bob").ok


async def test_a_pause_without_control_hands_nothing_back(hall: Hall):
    hall.control.pause()
    assert hall.control.resume("anybody").ok
    assert hall.handed_back == 0


async def test_a_click_is_a_move_and_presses_and_releases(hall: Hall):
    hall.control.take("ada")
    hall.control.input("ada", "input_click", CLICK | {"click_count": 2, "button": "right", "modifiers": ["Shift"]})
    assert hall.wire.inputs("type", "button", "buttons", "clickCount", "modifiers") == [
        ("mouseMoved", None, None, None, 8),
        ("mousePressed", "right", 2, 1, 8),
        ("mouseReleased", "right", 0, 1, 8),
        ("mousePressed", "right", 2, 2, 8),
        ("mouseReleased", "right", 0, 2, 8),
    ]


async def test_what_is_held_goes_with_what_follows_and_is_let_go_at_the_end(hall: Hall):
    control = hall.control
    control.take("ada")
    control.input("ada", "input_keydown", {"key": "Shift", "code": "ShiftLeft"})
    control.input("ada", "input_down", {"x": 1, "y": 1})
    control.input("ada", "input_move", {"x": 5, "y": 6})
    control.input("ada", "input_keydown", {"key": "A", "code": "KeyA", "repeat": True})
    control.release("ada")
    assert hall.wire.inputs("type", "key", "modifiers", "buttons") == [
        ("rawKeyDown", "Shift", 8, None),
        ("mousePressed", None, 8, 1),
        ("mouseMoved", None, 8, 1),
        ("keyDown", "A", 8, None),
        ("mouseReleased", None, 8, 0),
        ("keyUp", "Shift", 0, None),
        ("keyUp", "A", 0, None),
    ]
    assert hall.wire.sent[3]["params"]["autoRepeat"] is True


async def test_a_text_is_one_event(hall: Hall):
    hall.control.take("ada")
    hall.control.input("ada", "input_type", {"text": "naïve 日本"})
    assert [each["params"] for each in hall.wire.sent] == [{"text": "naïve 日本"}]


async def test_a_page_that_does_not_keep_up_gets_moves_joined_and_loses_the_oldest(hall: Hall):
    hall.wire.answering = False
    control = hall.control
    control.take("ada")
    for number in range(AHEAD):
        control.input("ada", "input_type", {"text": f"{number}"})
    for x in range(50):
        control.input("ada", "input_move", {"x": x, "y": 0})
    control.input("ada", "input_wheel", {"x": 49, "y": 0, "delta_x": 1, "delta_y": 10})
    control.input("ada", "input_wheel", {"x": 49, "y": 0, "delta_x": 2, "delta_y": 20})
    assert len(hall.wire.sent) == AHEAD
    assert control.state()["queued"] == 2
    for _ in range(LIMIT - 2):
        assert not control.input("ada", "input_keydown", {"key": "a"}).dropped
    answer = control.input("ada", "input_keydown", {"key": "b"})
    assert answer.facts() == {"ok": True, "queued": True, "dropped": True}
    hall.wire.answer(hall.wire.sent[0])
    await anyio.lowlevel.checkpoint()
    await anyio.lowlevel.checkpoint()
    assert hall.wire.sent[AHEAD]["params"]["deltaY"] == 30
    control.release("ada")
    assert control.state()["queued"] == 0


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
        ("input_click", CLICK | {"x": FARTHEST + 1}, "invalid_coordinates"),
        ("input_click", CLICK | {"x": "10"}, "invalid_coordinates"),
        ("input_click", CLICK | {"x": True}, "invalid_coordinates"),
        ("input_move", {"x": float("nan"), "y": 0}, "invalid_coordinates"),
        ("input_move", {"x": float("inf"), "y": 0}, "invalid_coordinates"),
        ("input_move", {"x": 0}, "invalid_coordinates"),
        ("input_click", CLICK | {"button": "back"}, "invalid_button"),
        ("input_click", CLICK | {"button": ["left"]}, "invalid_button"),
        ("input_click", CLICK | {"click_count": 0}, "invalid_click_count"),
        ("input_click", CLICK | {"click_count": CLICKS + 1}, "invalid_click_count"),
        ("input_click", CLICK | {"click_count": True}, "invalid_click_count"),
        ("input_wheel", {"x": 0, "y": 0, "delta_y": TURN + 1}, "invalid_wheel_delta"),
        ("input_wheel", {"x": 0, "y": 0, "delta_x": "1"}, "invalid_wheel_delta"),
        ("input_keydown", {"key": ""}, "invalid_key"),
        ("input_keydown", {"key": "Hyperspace"}, "invalid_key"),
        ("input_keydown", {"key": 7}, "invalid_key"),
        ("input_keydown", {"key": "a", "code": 7}, "invalid_key"),
        ("input_keydown", {"key": "a", "repeat": "yes"}, "invalid_payload"),
        ("input_type", {}, "invalid_text"),
        ("input_type", {"text": ""}, "invalid_text"),
        ("input_type", {"text": 7}, "invalid_text"),
        ("input_type", {"text": "x" * (TYPED + 1)}, "text_too_long"),
    ],
)
async def test_what_cannot_be_is_named(hall: Hall, kind: str, payload: Any, error: str):
    hall.control.take("ada")
    assert hall.control.input("ada", kind, payload).facts() == {"ok": False, "error": error}
    assert hall.wire.sent == []
    with pytest.raises(Rejected, match=error):
        read_input(kind, payload)
