"""Restore the host's garbage collector settings."""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from outrider import extract
from outrider.pages.memory import GcPause


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    collects = gc.isenabled()
    yield
    (gc.enable if collects else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_restored_after_a_page_is_read(enabled: bool):
    (gc.enable if enabled else gc.disable)()
    assert extract("<p>hi</p>").text == "hi"
    assert gc.isenabled() is enabled


def test_the_collector_is_restored_after_a_failure():
    gc.enable()
    with pytest.raises(ZeroDivisionError), GcPause().pause():
        1 / 0  # noqa: B018 - it fails, as a parser may
    assert gc.isenabled()
    with pytest.raises(TypeError):
        extract(None)  # ty: ignore[invalid-argument-type]
    assert gc.isenabled()


def test_the_last_of_many_threads_turns_the_collector_on_again():
    gc.enable()
    page = "<h1>Tides</h1>" + "<p>High water at six, low water at noon.</p>" * 50
    with ThreadPoolExecutor(8) as threads:
        texts = set(threads.map(lambda _: extract(page).text, range(40)))
    assert len(texts) == 1
    assert gc.isenabled()


def test_the_collector_stays_off_while_any_thread_reads():
    gc.enable()
    collecting, both, one = GcPause(), Barrier(2), Barrier(2)

    def first() -> None:
        with collecting.pause():
            both.wait(10)
        one.wait(10)

    def second() -> bool:
        with collecting.pause():
            both.wait(10)
            one.wait(10)  # the first is done
            return gc.isenabled()

    with ThreadPoolExecutor(2) as threads:
        threads.submit(first)
        assert threads.submit(second).result(20) is False
    assert gc.isenabled()
