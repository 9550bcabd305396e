"""Hosts that name no session: each has one of its own, and finds it again."""

from outrider.app.daemon.sessions import Sessions


def test_hosts_at_the_same_time_have_different_sessions():
    sessions = Sessions()
    assert [sessions.lend("/a"), sessions.lend("/a"), sessions.lend("/b")] == ["default", "default-2", "default-3"]


def test_a_host_alone_has_always_the_first_wherever_it_is():
    sessions = Sessions()
    for place in ("/a", "/b", "/a"):
        session = sessions.lend(place)
        assert session == "default"
        sessions.give_back(session)


def test_a_directory_gets_its_own_again_while_another_host_is_there():
    sessions = Sessions()
    sessions.lend("/a")
    second = sessions.lend("/b")
    sessions.give_back(second)
    assert sessions.lend("/c") == "default-3"
    assert sessions.lend("/b") == second


def test_a_host_whose_connection_was_lost_keeps_its_session():
    assert Sessions().lend("/a", "default-4") == "default-4"
    assert Sessions().lend("/a", "somebody's") == "default"
