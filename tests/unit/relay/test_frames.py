"""Frames are the same in whatever pieces they arrive; half a frame is not a frame."""

from hypothesis import given
from hypothesis import strategies as st

from outrider.relay.frames import FrameReader, build_frame

FRAMES = st.lists(st.tuples(st.sampled_from([b"L", b"O"]), st.integers(0, 2**32 - 1), st.binary(max_size=300)))


@given(FRAMES, st.lists(st.integers(1, 50), min_size=1))
def test_frames_arrive_as_they_were_sent_however_they_are_cut(sent: list, cuts: list[int]):
    stream = b"".join(build_frame(kind, payload, number) for kind, number, payload in sent)
    reader, found, at, turn = FrameReader(), [], 0, 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        found += reader.feed(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert found == sent


def test_an_incomplete_frame_yields_nothing():
    whole = build_frame(b"O", b"x" * 100, 7)
    reader = FrameReader()
    assert reader.feed(whole[:-1]) == []
    assert reader.feed(whole[-1:]) == [(b"O", 7, b"x" * 100)]
