"""A small site of our own for the browser's tests, with one of everything that makes browsing hard."""

import asyncio
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

PAGES_FOLDER = Path(__file__).parent / "pages"
TABLE_ROW_COUNT = 2_000
HOSTILE_FILE_NAME = "..\\../evil\u202efdp.exe"  # a path, and a name that looks like another one


def build_site(other: str = "") -> Starlette:
    """The site as an ASGI application; `other` is the same site's address at another origin."""

    def build_page_handler(name: str):
        async def answer(request: Request) -> HTMLResponse:
            return HTMLResponse((PAGES_FOLDER / f"{name}.html").read_text().replace("OTHER", other))

        return answer

    names = [path.stem for path in PAGES_FOLDER.glob("*.html")]
    plain = [Route(f"/{name}", build_page_handler(name)) for name in names if name not in ("spa", "login")]
    own = [
        Route("/", lambda _: HTMLResponse("<title>Home</title><h1>Home</h1>")),
        Route("/spa{rest:path}", build_page_handler("spa")),
        Route("/api/items", serve_items),
        Route("/table", serve_table),
        Route("/thanks", serve_thanks, methods=["POST"]),
        Route("/login", serve_login, methods=["GET", "POST"]),
        Route("/account", serve_account),
        Route("/uploaded", serve_upload, methods=["POST"]),
        Route("/file/{name}", serve_file),
        Route("/slow", serve_slow),
        Route("/endless", serve_endless),
        Route("/endless.js", serve_endless),
        Route("/never", serve_never),
        Route("/to", lambda request: RedirectResponse(request.query_params["url"])),
        Route("/status/{code:int}", lambda request: HTMLResponse("so be it", request.path_params["code"])),
        Route("/sw.js", serve_service_worker),
        Route("/reporting", serve_csp_report_page),
        Route("/linking", serve_preload_page),
        Route("/refreshing", serve_refresh_page),
        Route("/remembering", serve_storage_page),
        Route("/headers", lambda request: JSONResponse(dict(request.headers))),
    ]
    return Starlette(routes=[*plain, *own])


async def serve_table(request: Request) -> HTMLResponse:
    """A table of 2,000 rows with controls in each."""
    cells = "<tr><td>{0}</td><td>Customer {0}</td><td>{1} €</td><td><a href='/customer/{0}'>Open</a></td></tr>"
    rows = "".join(cells.format(number, number * 7 % 1_000) for number in range(1, TABLE_ROW_COUNT + 1))
    head = "<tr><th>No</th><th>Name</th><th>Sum</th><th></th></tr>"
    return HTMLResponse(f"<title>Table</title><table>{head}{rows}</table>")


async def serve_items(request: Request) -> JSONResponse:
    await asyncio.sleep(0.1)
    more = request.query_params["path"].endswith("more")
    return JSONResponse({"title": "More" if more else "Items", "items": ["one", "two", *(["three"] if more else [])]})


async def serve_thanks(request: Request) -> HTMLResponse:
    async with request.form() as form:
        return HTMLResponse(f"<title>Thanks</title><h1>Thanks, {form.get('name')}</h1>")


async def serve_login(request: Request) -> Response:
    if request.method == "GET":
        return HTMLResponse((PAGES_FOLDER / "login.html").read_text())
    async with request.form() as form:
        user, password = str(form["user"]), form["password"]
    if (user, password) != ("ada", "lovelace"):
        return HTMLResponse("<title>Sign in</title><p>Wrong</p>", 401)
    answer = RedirectResponse("/account", 303)
    answer.set_cookie("who", user, max_age=3_600, httponly=True)
    return answer


async def serve_account(request: Request) -> Response:
    who = request.cookies.get("who")
    if not who:
        return RedirectResponse("/login")
    script = "<script>localStorage.visits = 1 + Number(localStorage.visits ?? 0)</script>"
    return HTMLResponse(f"<title>Account</title><h1>Hello, {who}</h1>{script}")


async def serve_upload(request: Request) -> JSONResponse:
    async with request.form() as form:
        files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
        return JSONResponse({each.filename: (await each.read()).decode() for each in files})


async def serve_file(request: Request) -> Response:
    name = {"report.csv": "report.csv", "nasty": HOSTILE_FILE_NAME, "big": "big.bin"}[request.path_params["name"]]
    body = b"x" * 3_000_000 if name == "big.bin" else b"a,b\n1,2\n"
    quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    return Response(body, headers={"content-disposition": f"attachment; filename*=UTF-8''{quoted}"})


async def serve_slow(request: Request) -> StreamingResponse:
    """A document that arrives at once, with a script that never arrives."""

    async def parts():
        yield b"<title>Slow</title><h1>There</h1><script async src=/endless.js></script>"

    return StreamingResponse(parts(), media_type="text/html")


async def serve_endless(request: Request) -> StreamingResponse:
    async def parts():
        while True:
            yield b" " * 1_000
            await asyncio.sleep(0.2)

    return StreamingResponse(parts(), media_type="text/javascript" if request.url.path.endswith("js") else "text/html")


async def serve_never(request: Request) -> Response:
    await asyncio.Event().wait()
    return Response()


async def serve_service_worker(request: Request) -> Response:
    source = "onmessage = event => event.waitUntil(fetch(event.data, {mode: 'no-cors'}).catch(() => 0))"
    return Response(source, media_type="text/javascript")


async def serve_csp_report_page(request: Request) -> HTMLResponse:
    """A page that violates its policy at once, and reports that to the address in the query."""
    headers = {"content-security-policy": f"script-src 'none'; report-uri {request.query_params['to']}"}
    return HTMLResponse("<script>1</script>", headers=headers)


async def serve_preload_page(request: Request) -> HTMLResponse:
    headers = {"link": f"<{request.query_params['to']}>; rel=preload; as=image"}
    return HTMLResponse("<p>linked</p>", headers=headers)


async def serve_storage_page(request: Request) -> HTMLResponse:
    """A page that stores something at once, in a cookie and in local storage."""
    answer = HTMLResponse("<title>Remembering</title><script>localStorage.seen = 'yes'</script>")
    answer.set_cookie("seen", "yes")
    return answer


async def serve_refresh_page(request: Request) -> HTMLResponse:
    return HTMLResponse("<p>moving</p>", headers={"refresh": f"0;url={request.query_params['to']}"})
