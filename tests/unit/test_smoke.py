import pytest

import fakes

pytestmark = pytest.mark.anyio


async def test_loopback_servers_answer():
    import httpx2

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"hi"})

    async with fakes.serve(app) as url, httpx2.AsyncClient() as client:
        assert (await client.get(url)).text == "hi"
