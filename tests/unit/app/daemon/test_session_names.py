"""Assign sessions to hosts that do not choose one."""

from outrider.app.daemon.session_names import SessionNames


def test_hosts_at_the_same_time_have_different_sessions():
    sessions = SessionNames()
    assert [sessions.assign("/a"), sessions.assign("/a"), sessions.assign("/b")] == [
        "default",
        "default-2",
        "default-3",
    ]


def test_a_single_host_always_gets_the_first_session_in_any_directory():
    sessions = SessionNames()
    for place in ("/a", "/b", "/a"):
        session = sessions.assign(place)
        assert session == "default"
        sessions.release(session)


def test_a_directory_gets_its_session_back_while_another_host_is_connected():
    sessions = SessionNames()
    sessions.assign("/a")
    second = sessions.assign("/b")
    sessions.release(second)
    assert sessions.assign("/c") == "default-3"
    assert sessions.assign("/b") == second


def test_commands_share_the_session_of_their_directorys_host_and_keep_it_from_others():
    sessions = SessionNames()
    host = sessions.assign("/a")
    assert sessions.join("/a") == sessions.join("/a") == host
    assert sessions.is_joined(host)
    sessions.release(host)
    assert sessions.assign("/b") != host
    assert sessions.assign("/a") == host


def test_commands_without_a_host_use_the_session_that_the_next_host_gets():
    sessions = SessionNames()
    here, there = sessions.join("/a"), sessions.join("/b")
    assert here != there
    assert [sessions.assign("/b"), sessions.assign("/a")] == [there, here]


def test_a_host_whose_connection_was_lost_keeps_its_session():
    assert SessionNames().assign("/a", "default-4") == "default-4"
    assert SessionNames().assign("/a", "somebody's") == "default"
