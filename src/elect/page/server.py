"""The routes of the page: what may be asked is checked and handed to the state. Events go out, changes come in."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from elect.errors import ElectError, InvalidInput
from elect.page.guard import Guard
from elect.page.reader import MOST_ROWS, NotYet
from elect.page.rows import SHOWN, Query
from elect.page.state import PageState

HOST = "127.0.0.1"
_BETWEEN_EVENTS = 0.08
_HEARTBEAT = 15.0
_MEDIA = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_LONGEST_TEXT = 1000

Body = dict[str, Any]


def application(state: PageState, end: Callable[[], None]) -> Starlette:
    """All routes. Whoever serves them puts a ``Guard`` before."""
    reader = state.reader

    def read(view: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            return await _answered(lambda: view(request))

        return endpoint

    def change(act: Callable[[Body], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                body = json.loads(await request.body() or b"{}")
            except (ValueError, RecursionError):
                return _json({"error": "The request is not JSON."}, 400)
            if not isinstance(body, dict):
                return _json({"error": "The request must be a JSON object."}, 400)

            def act_and_tell() -> Any:
                found = act(body)
                return {"version": state.moment.version} if found is None else found

            return await _answered(act_and_tell)

        return endpoint

    async def events(request: Request) -> Response:
        return StreamingResponse(_events(state), media_type="text/event-stream")

    async def download(request: Request) -> Response:
        try:
            made = await run_in_threadpool(state.download, request.path_params["kind"])
        except ElectError as error:
            return _json({"error": str(error)}, 409 if isinstance(error, NotYet) else 400)
        attached = f"attachment; filename*=UTF-8''{quote(made.name)}"
        return Response(made.content, media_type=made.media_type, headers={"content-disposition": attached})

    shipped = _files()

    async def index(request: Request) -> Response:
        return shipped["index.html"]()

    async def static(request: Request) -> Response:
        made = shipped.get(request.path_params["name"])
        return Response("There is no such file.\n", 404, media_type="text/plain") if made is None else made()

    def find(body: Body) -> Any:
        return reader.find(state.moment, _query(body), _text(body, "row"))

    def compare(body: Body) -> Any:
        return reader.compare(state.moment, _text(body, "one"), _text(body, "other"))

    return Starlette(
        routes=[
            Route("/", index),
            Route("/static/{name}", static),
            Route("/api/events", events),
            Route("/api/table", read(lambda request: reader.table())),
            Route("/api/row/{position:int}", read(lambda r: reader.row(state.moment, r.path_params["position"]))),
            Route("/api/map", read(lambda request: reader.map(state.moment))),
            Route("/api/columns", read(lambda request: reader.columns(state.moment))),
            Route("/api/models", read(lambda request: reader.models(state.moment))),
            Route("/download/{kind}", download),
            Route("/api/rows", change(lambda b: reader.rows(state.moment, _query(b), *_range(b))), methods=["POST"]),
            Route("/api/find", change(find), methods=["POST"]),
            Route("/api/compare", change(compare), methods=["POST"]),
            Route("/api/answer", change(lambda b: state.answer(_whole(b, "position"), _said(b))), methods=["POST"]),
            Route("/api/undo", change(lambda b: state.undo()), methods=["POST"]),
            Route("/api/aim", change(lambda b: state.set_aim(_text(b, "aim"))), methods=["POST"]),
            Route("/api/threshold", change(lambda b: state.set_threshold(_chance(b))), methods=["POST"]),
            Route("/api/search", change(lambda b: state.search(_texts(b, "left_out"), _strategy(b))), methods=["POST"]),
            Route("/api/stop", change(lambda b: state.stop()), methods=["POST"]),
            Route("/api/end", change(lambda b: end()), methods=["POST"]),
        ]
    )


class PageServer:
    """The page on this machine only. ``address`` may be opened as soon as it is known: the port is taken already."""

    def __init__(self, state: PageState, port: int = 0) -> None:
        self._state = state
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self.app = application(state, self.end)
        self._guard = Guard(self.app, self.port, HOST)
        config = uvicorn.Config(
            self._guard,
            lifespan="off",
            ws="none",
            http="h11",
            log_level="critical",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=16 * 1024,
            timeout_graceful_shutdown=2,
        )
        self._server = _Server(config, state)

    @property
    def address(self) -> str:
        return self._guard.address

    def run(self) -> None:
        """Serve until ``end``, Ctrl-C or the page itself ends it."""
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass
        finally:
            self._state.close()
            self._socket.close()

    def end(self) -> None:
        self._server.should_exit = True


class _Server(uvicorn.Server):  # type: ignore[misc]
    """Tells the open pages that it ends: their streams of events would otherwise keep it from ending."""

    def __init__(self, config: uvicorn.Config, state: PageState) -> None:
        super().__init__(config)
        self._page = state

    async def shutdown(self, sockets: Any = None) -> None:
        self._page.end()
        await super().shutdown(sockets)


def _listen(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        # From here on a browser is answered, if only a moment later.
        found.listen(128)
    except (OSError, OverflowError) as error:
        found.close()
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(f"--port {port} cannot be used ({why}); leave it out to take a free one.") from None
    return found


async def _events(state: PageState) -> AsyncIterator[str]:
    """The newest moment after every change. A slow browser misses moments in between, and holds nobody up."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        # The loop may have closed while a change was on its way.
        if not loop.is_closed():
            loop.call_soon_threadsafe(changed.set)

    end = state.listen(wake)
    try:
        while True:
            changed.clear()
            document = await run_in_threadpool(state.document)
            yield f"id: {document['version']}\ndata: {json.dumps(document, allow_nan=False)}\n\n"
            if document["phase"] == "ended":
                return
            await asyncio.sleep(_BETWEEN_EVENTS)
            while not changed.is_set():
                try:
                    await asyncio.wait_for(changed.wait(), _HEARTBEAT)
                except TimeoutError:
                    yield ": still here\n\n"
    finally:
        end()


async def _answered(view: Callable[[], Any]) -> Response:
    try:
        return _json(await run_in_threadpool(view))
    except NotYet as error:
        return _json({"error": str(error)}, 409)
    except ElectError as error:
        return _json({"error": str(error)}, 400)
    except OSError as error:
        return _json({"error": f"The system refused: {error.strerror or error}."}, 500)


def _json(content: Any, status: int = 200) -> Response:
    return Response(json.dumps(content, allow_nan=False), status, media_type="application/json")


def _files() -> dict[str, Callable[[], Response]]:
    """The files of the page, read once: a name that is asked for is looked up here and never on the disk."""
    found: dict[str, Callable[[], Response]] = {}
    colors = files("elect.report") / "static" / "colors.css"
    for file in (colors, *files("elect.page").joinpath("static").iterdir()):
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _MEDIA:
            content, media = file.read_bytes(), _MEDIA[suffix]
            found[file.name] = lambda content=content, media=media: Response(content, media_type=media)  # type: ignore[misc]
    return found


# A body says what it says: every field has its type, or the request is refused.


def _text(body: Body, name: str, otherwise: str | None = None) -> str:
    value = body.get(name, otherwise)
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise InvalidInput(f"{name} must be a text of at most {_LONGEST_TEXT} characters.")
    return value


def _texts(body: Body, name: str) -> list[str]:
    value = body.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidInput(f"{name} must be a list of texts.")
    return value


def _strategy(body: Body) -> str | None:
    return None if body.get("strategy") is None else _text(body, "strategy")


def _whole(body: Body, name: str, otherwise: int | None = None) -> int:
    value = body.get(name, otherwise)
    if type(value) is not int:
        raise InvalidInput(f"{name} must be a whole number.")
    return value


def _chance(body: Body) -> float | None:
    value = body.get("threshold")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("threshold must be a number between 0 and 1, or null.")
    return float(value)


def _said(body: Body) -> bool | None:
    value = body.get("answer", "")
    if value is not None and not isinstance(value, bool):
        raise InvalidInput("answer must be true, false or null.")
    return value


def _range(body: Body) -> tuple[int, int]:
    return _whole(body, "start", 0), _whole(body, "count", MOST_ROWS)


def _query(body: Body) -> Query:
    within = body.get("within")
    if within is not None and not (isinstance(within, list) and all(type(item) is int for item in within)):
        raise InvalidInput("within must be a list of positions, or null.")
    shown = _text(body, "shown", "all")
    if shown not in SHOWN:
        raise InvalidInput(f"shown must be one of {', '.join(SHOWN)}.")
    return Query(
        sort=_text(body, "sort", "chance"),
        descending=body.get("descending", True) is True,
        column=None if body.get("column") is None else _text(body, "column"),
        text=_text(body, "text", ""),
        shown=shown,
        kind=None if body.get("kind") is None else _text(body, "kind"),
        within=None if within is None else tuple(within),
    )
