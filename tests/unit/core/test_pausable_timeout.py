"""Time limits pause while a person holds up the work."""

import anyio
import pytest

from outrider.core.pausable_timeout import extend_timeouts, limit_time, pause_timeouts

pytestmark = pytest.mark.anyio
LONG_TIMEOUT_S = 30
SHORT = 0.05


async def let_time_pass(seconds: float) -> None:
    """Let time pass."""
    with anyio.move_on_after(seconds):
        await anyio.sleep_forever()


async def test_paused_time_counts_towards_no_enclosing_limit():
    heard: list[str] = []

    async def accept_alive(message: str) -> None:
        heard.append(message)

    with anyio.fail_after(LONG_TIMEOUT_S), limit_time(SHORT, accept_alive) as outer, limit_time(SHORT) as inner:
        async with pause_timeouts("held up"):
            await let_time_pass(SHORT * 3)
        reached = True
    assert reached
    assert not outer.scope.cancelled_caught
    assert not inner.scope.cancelled_caught
    assert outer.paused_seconds >= SHORT * 2
    assert heard == ["held up"]


async def test_the_clock_continues_after_a_pause():
    with anyio.fail_after(LONG_TIMEOUT_S), limit_time(SHORT) as found:
        async with pause_timeouts("held up"):
            pass
        await anyio.sleep_forever()
    assert found.scope.cancelled_caught


async def test_two_simultaneous_pauses_count_once():
    began = anyio.current_time()
    with anyio.fail_after(LONG_TIMEOUT_S), limit_time(LONG_TIMEOUT_S) as found:

        async def hold_up() -> None:
            async with pause_timeouts("held up"):
                await let_time_pass(SHORT)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold_up)
            tasks.start_soon(hold_up)
    assert SHORT <= found.paused_seconds <= anyio.current_time() - began


async def test_a_scope_that_ended_during_a_pause_is_ignored():
    async def raise_gone(message: str) -> None:
        raise ConnectionError(message)

    with anyio.fail_after(LONG_TIMEOUT_S), limit_time(LONG_TIMEOUT_S, raise_gone):
        async with pause_timeouts("held up"):
            await anyio.lowlevel.checkpoint()


async def test_a_limit_can_be_extended_for_a_pause_elsewhere():
    with anyio.fail_after(LONG_TIMEOUT_S), limit_time(SHORT) as found:
        extend_timeouts(LONG_TIMEOUT_S)
        await let_time_pass(SHORT * 2)
    assert not found.scope.cancelled_caught
    assert found.paused_seconds == LONG_TIMEOUT_S
