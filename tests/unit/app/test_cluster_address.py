"""Find the address that a replica advertises to others."""

import pytest

from outrider.app.cluster.address import find_advertised_address

pytestmark = pytest.mark.anyio
HERE = "postgresql+psycopg://outrider:secret@127.0.0.1:5432/outrider"


async def test_a_single_listening_address_is_advertised_unchanged():
    assert await find_advertised_address("http://10.0.0.7:8765", HERE) == "http://10.0.0.7:8765"


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]"])
async def test_a_server_on_all_interfaces_advertises_the_address_the_database_sees(host: str):
    assert await find_advertised_address(f"http://{host}:8765", HERE) == "http://127.0.0.1:8765"


async def test_a_database_behind_a_socket_file_is_on_this_machine():
    assert (
        await find_advertised_address("http://0.0.0.0:8765", "postgresql:///outrider?host=/run/db")
        == "http://127.0.0.1:8765"
    )


@pytest.mark.parametrize("database", ["postgresql://a..b/x", "postgresql://one:1,two:2/x"])
async def test_without_a_route_to_the_database_the_log_names_the_setting_to_use(
    database: str, caplog: pytest.LogCaptureFixture
):
    assert await find_advertised_address("http://0.0.0.0:8765", database) == "http://0.0.0.0:8765"
    assert "serve.internal_url" in caplog.text
