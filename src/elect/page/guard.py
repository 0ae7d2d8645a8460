"""Nobody gets in: one middleware that every request passes, and that lets nothing through by default.

The page is served to one person on this machine. What it must hold off is every *other* web page open in their browser,
and every other account on the machine: a page that makes a foreign name point to 127.0.0.1 (so the Host must be ours),
a page that posts a form to us (so the Origin must be ours), a page that frames us or loads our files (so the cookie is
SameSite=Strict and nothing may be embedded), and anybody who only knows the port (so a secret must be shown first).
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 256 * 1024

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ("cache-control", "no-store"),
)

# A redirect would still belong to whatever page the link was clicked on, and the strict cookie would not be sent; the
# page itself asking for its next address is ours.
_WELCOME = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>elect</title>'
    '<link rel="icon" href="/static/icon.svg"><meta http-equiv="refresh" content="0;url=/"></head>'
    '<body><p><a href="/">Open the page</a></p></body></html>'
)

_CLOSED = "This page belongs to the person who started it. Open the address that elect printed.\n"


class Guard:
    """Wraps the whole application. ``token`` is in the address that is opened; the cookie holds another secret."""

    def __init__(self, app: App, port: int, host: str = "127.0.0.1") -> None:
        self._app = app
        self._host = f"{host}:{port}"
        self._origin = f"http://{host}:{port}"
        # Cookies are shared by all ports of a machine: each page has a name of its own.
        self._cookie = f"elect_{port}"
        self.token = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)

    @property
    def address(self) -> str:
        """What the person opens."""
        return f"{self._origin}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # No web sockets.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
        elif self._shows_token(scope):
            cookie = f"{self._cookie}={self._secret}; Path=/; HttpOnly; SameSite=Strict"
            extra = (("content-type", "text/html; charset=utf-8"), ("set-cookie", cookie))
            await _answer(send, 200, _WELCOME, extra)
        elif not self._shows_cookie(headers):
            await _answer(send, 403, _CLOSED)
        elif scope["method"] == "POST":
            body = await _body(receive)
            if body is None:
                await _answer(send, 413, f"A request may hold {LARGEST_BODY // 1024} kB at most.\n")
            else:
                await self._app(scope, _told(body, receive), _guarded(send))
        else:
            await self._app(scope, receive, _guarded(send))

    def _refusal(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        """What is wrong with a request, whoever sends it."""
        if headers.get("host") != [self._host]:
            return 403, "This server answers only under its own address.\n"
        if scope["method"] not in ("GET", "POST"):
            return 405, "Only GET and POST are understood.\n"
        if scope["method"] == "GET":
            # A link from another page may open this one; nothing else may be asked for from elsewhere.
            asked_from = headers.get("sec-fetch-site", ["none"])[0]
            if scope["path"] != "/" and asked_from not in ("same-origin", "none"):
                return 403, "Another page may not ask for this.\n"
            return None
        if headers.get("origin") != [self._origin]:
            return 403, "Only this page itself may change something.\n"
        if headers.get("content-type", [""])[0].split(";")[0].strip().lower() != "application/json":
            return 415, "A change must be sent as JSON.\n"
        length = headers.get("content-length", ["0"])[0]
        if not length.isascii() or not length.isdigit() or int(length) > LARGEST_BODY:
            return 413, f"A request may hold {LARGEST_BODY // 1024} kB at most.\n"
        return None

    def _shows_token(self, scope: Scope) -> bool:
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        shown = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return len(shown) == 1 and _same(shown[0], self.token)

    def _shows_cookie(self, headers: dict[str, list[str]]) -> bool:
        try:
            cookies = SimpleCookie("; ".join(headers.get("cookie", [])))
        except CookieError:
            return False
        return self._cookie in cookies and _same(cookies[self._cookie].value, self._secret)


def _same(shown: str, kept: str) -> bool:
    return secrets.compare_digest(shown.encode("utf-8", "replace"), kept.encode())


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None if it is longer than allowed, whatever its header said."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _told(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, then whatever else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def told() -> Message:
        return waiting.pop() if waiting else await receive()

    return told


def _guarded(send: Send) -> Send:
    """Every answer carries the same headers, whatever made it."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = {name.encode() for name, _ in HEADERS}
            kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in ours]
            message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in HEADERS)]
        await send(message)

    return guarded


async def _answer(send: Send, status: int, text: str, extra: tuple[tuple[str, str], ...] = ()) -> None:
    content = text.encode()
    named = dict(extra)
    named.setdefault("content-type", "text/plain; charset=utf-8")
    headers = [*named.items(), ("content-length", str(len(content)))]
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }
    await _guarded(send)(start)
    await send({"type": "http.response.body", "body": content})
