"""A small site of our own for the browser's tests, with one of everything that makes browsing hard."""

import asyncio
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

PAGES = Path(__file__).parent / "pages"
ROWS = 2_000
NASTY = "..\\../evil\u202efdp.exe"  # a path, and a name that reads as another


def site(other: str = "") -> Starlette:
    """The site as an ASGI application; `other` is the same site's address at another origin."""

    def page(name: str):
        async def answer(request: Request) -> HTMLResponse:
            return HTMLResponse((PAGES / f"{name}.html").read_text().replace("OTHER", other))

        return answer

    names = [path.stem for path in PAGES.glob("*.html")]
    plain = [Route(f"/{name}", page(name)) for name in names if name not in ("spa", "login")]
    own = [
        Route("/", lambda _: HTMLResponse("<title>Home</title><h1>Home</h1>")),
        Route("/spa{rest:path}", page("spa")),
        Route("/api/items", items),
        Route("/table", table),
        Route("/thanks", thanks, methods=["POST"]),
        Route("/login", login, methods=["GET", "POST"]),
        Route("/account", account),
        Route("/uploaded", uploaded, methods=["POST"]),
        Route("/file/{name}", file),
        Route("/slow", slow),
        Route("/endless", endless),
        Route("/endless.js", endless),
        Route("/never", never),
        Route("/to", lambda request: RedirectResponse(request.query_params["url"])),
        Route("/status/{code:int}", lambda request: HTMLResponse("so be it", request.path_params["code"])),
        Route("/sw.js", service_worker),
        Route("/reporting", reporting),
        Route("/linking", linking),
        Route("/refreshing", refreshing),
        Route("/remembering", remembering),
        Route("/headers", lambda request: JSONResponse(dict(request.headers))),
    ]
    return Starlette(routes=[*plain, *own])


async def table(request: Request) -> HTMLResponse:
    """A table of 2,000 rows with controls in each."""
    cells = "<tr><td>{0}</td><td>Customer {0}</td><td>{1} €</td><td><a href='/customer/{0}'>Open</a></td></tr>"
    rows = "".join(cells.format(number, number * 7 % 1_000) for number in range(1, ROWS + 1))
    head = "<tr><th>No</th><th>Name</th><th>Sum</th><th></th></tr>"
    return HTMLResponse(f"<title>Table</title><table>{head}{rows}</table>")


async def items(request: Request) -> JSONResponse:
    await asyncio.sleep(0.1)
    more = request.query_params["path"].endswith("more")
    return JSONResponse({"title": "More" if more else "Items", "items": ["one", "two", *(["three"] if more else [])]})


async def thanks(request: Request) -> HTMLResponse:
    async with request.form() as form:
        return HTMLResponse(f"<title>Thanks</title><h1>Thanks, {form.get('name')}</h1>")


async def login(request: Request) -> Response:
    if request.method == "GET":
        return HTMLResponse((PAGES / "login.html").read_text())
    async with request.form() as form:
        user, password = str(form["user"]), form["password"]
    if (user, password) != ("ada", "lovelace"):
        return HTMLResponse("<title>Sign in</title><p>Wrong</p>", 401)
    answer = RedirectResponse("/account", 303)
    answer.set_cookie("who", user, max_age=3_600, httponly=True)
    return answer


async def account(request: Request) -> Response:
    who = request.cookies.get("who")
    if not who:
        return RedirectResponse("/login")
    script = "<script>localStorage.visits = 1 + Number(localStorage.visits ?? 0)</script>"
    return HTMLResponse(f"<title>Account</title><h1>Hello, {who}</h1>{script}")


async def uploaded(request: Request) -> JSONResponse:
    async with request.form() as form:
        files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
        return JSONResponse({each.filename: (await each.read()).decode() for each in files})


async def file(request: Request) -> Response:
    name = {"report.csv": "report.csv", "nasty": NASTY, "big": "big.bin"}[request.path_params["name"]]
    body = b"x" * 3_000_000 if name == "big.bin" else b"a,b\n1,2\n"
    quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    return Response(body, headers={"content-disposition": f"attachment; filename*=UTF-8''{quoted}"})


async def slow(request: Request) -> StreamingResponse:
    """A document that is there at once, with a script that never comes."""

    async def parts():
        yield b"<title>Slow</title><h1>There</h1><script async src=/endless.js></script>"

    return StreamingResponse(parts(), media_type="text/html")


async def endless(request: Request) -> StreamingResponse:
    async def parts():
        while True:
            yield b" " * 1_000
            await asyncio.sleep(0.2)

    return StreamingResponse(parts(), media_type="text/javascript" if request.url.path.endswith("js") else "text/html")


async def never(request: Request) -> Response:
    await asyncio.Event().wait()
    return Response()


async def service_worker(request: Request) -> Response:
    source = "onmessage = event => event.waitUntil(fetch(event.data, {mode: 'no-cors'}).catch(() => 0))"
    return Response(source, media_type="text/javascript")


async def reporting(request: Request) -> HTMLResponse:
    """A page whose policy is broken at once, and reported to wherever the query says."""
    headers = {"content-security-policy": f"script-src 'none'; report-uri {request.query_params['to']}"}
    return HTMLResponse("<script>1</script>", headers=headers)


async def linking(request: Request) -> HTMLResponse:
    headers = {"link": f"<{request.query_params['to']}>; rel=preload; as=image"}
    return HTMLResponse("<p>linked</p>", headers=headers)


async def remembering(request: Request) -> HTMLResponse:
    """A page that stores something at once, in a cookie and in local storage."""
    answer = HTMLResponse("<title>Remembering</title><script>localStorage.seen = 'yes'</script>")
    answer.set_cookie("seen", "yes")
    return answer


async def refreshing(request: Request) -> HTMLResponse:
    return HTMLResponse("<p>moving</p>", headers={"refresh": f"0;url={request.query_params['to']}"})
