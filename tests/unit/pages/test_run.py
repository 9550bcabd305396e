"""A reader that misbehaves costs its own document and nothing else."""

import anyio
import pytest

from outrider.core.errors import Unavailable
from outrider.pages.reader import Reader, Source
from outrider.pages.registry import reader_for
from outrider.pages.run import Runner
from site_app import crash, err, hang, pdf

pytestmark = pytest.mark.anyio
PDF = Source(pdf("still here"), "https://a.b/x", "application/pdf")


@pytest.mark.parametrize("isolated", [True, False])
async def test_a_bug_is_told_as_a_page_that_cannot_be_read(isolated: bool):
    with pytest.raises(Unavailable) as caught:
        await Runner().run(Reader("err", ("x/y",), err, isolated=isolated), PDF)
    assert caught.value.code == "unreadable"
    assert "ZeroDivisionError" in caught.value.message


async def test_a_crash_takes_only_its_own_process():
    runner = Runner()
    with pytest.raises(Unavailable) as caught:
        await runner.run(Reader("crash", ("x/y",), crash, isolated=True), PDF)
    assert caught.value.code == "unreadable"
    document, _ = await runner.run(reader_for("application/pdf"), PDF)
    assert "still here" in document.text


async def test_a_reader_without_end_is_killed_at_the_deadline():
    runner = Runner()
    with anyio.fail_after(20):
        with anyio.move_on_after(1) as scope:
            await runner.run(Reader("hang", ("x/y",), hang, isolated=True), PDF)
        document, _ = await runner.run(reader_for("application/pdf"), PDF)
    assert scope.cancelled_caught
    assert "still here" in document.text
