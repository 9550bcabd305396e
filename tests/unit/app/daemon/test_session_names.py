"""Assign sessions to hosts that do not choose one."""

from outrider.app.daemon.session_names import SessionNames


def test_hosts_at_the_same_time_have_different_sessions():
    sessions = SessionNames()
    assert [sessions.assign("/a"), sessions.assign("/a"), sessions.assign("/b")] == [
        "default",
        "default-2",
        "default-3",
    ]


def test_a_host_alone_has_always_the_first_wherever_it_is():
    sessions = SessionNames()
    for place in ("/a", "/b", "/a"):
        session = sessions.assign(place)
        assert session == "default"
        sessions.release(session)


def test_a_directory_gets_its_own_again_while_another_host_is_there():
    sessions = SessionNames()
    sessions.assign("/a")
    second = sessions.assign("/b")
    sessions.release(second)
    assert sessions.assign("/c") == "default-3"
    assert sessions.assign("/b") == second


def test_a_host_whose_connection_was_lost_keeps_its_session():
    assert SessionNames().assign("/a", "default-4") == "default-4"
    assert SessionNames().assign("/a", "somebody's") == "default"
