"""Attacks on the page: every route, enumerated from the application, refuses whoever is not the page itself."""

import json
import re
from collections.abc import Iterator

import polars as pl
import pytest
from starlette.routing import Route

from elect.page.guard import LARGEST_BODY
from page_fake import FakeProduct, payments
from page_serving import Served, ready, serving


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving(FakeProduct(payments(200))) as found:
        ready(found.state)
        yield found


def routes(served: Served) -> list[tuple[str, str]]:
    """Every route as a method and a path that exists. One that is not a plain route would not be found: it fails."""
    found = []
    for route in served.server.app.routes:
        assert isinstance(route, Route)
        path = re.sub(
            r"{(\w+)(:\w+)?}", lambda part: {"name": "app.js", "position": "3", "kind": "csv"}[part[1]], route.path
        )
        found += [(method, path) for method in sorted(route.methods or ()) if method != "HEAD"]
    return found


def test_there_are_the_routes_that_the_other_tests_go_through(served: Served) -> None:
    found = routes(served)
    assert len(found) == 19
    assert ("POST", "/api/end") in found
    assert ("GET", "/static/app.js") in found


def attempt(served: Served, method: str, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    return served.request(method, path, headers, "{}" if method == "POST" else None)


def without(headers: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in names}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "localhost:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.com",
        "",
    ],
)
def test_another_host_is_refused_everywhere(served: Served, host: str) -> None:
    headers = {**served.allowed(), "Host": host.format(port=served.server.port)}
    for method, path in routes(served):
        assert attempt(served, method, path, headers)[0] in (400, 403), path
    assert attempt(served, "GET", f"/?token={served.token}", headers)[0] in (400, 403)


def test_nothing_is_given_without_the_cookie(served: Served) -> None:
    headers = without(served.allowed(), "Cookie")
    for method, path in routes(served):
        status, found, content = attempt(served, method, path, headers)
        assert status == 403, path
        assert b"Open the address that elect printed" in content
        assert "set-cookie" not in found


@pytest.mark.parametrize("cookie", ["elect_{port}=", "elect_{port}=guess", "elect_1={secret}", "other={secret}", "§§§"])
def test_a_wrong_cookie_is_no_cookie(served: Served, cookie: str) -> None:
    secret = served.cookie().split("=", 1)[1]
    headers = {**served.allowed(), "Cookie": cookie.format(port=served.server.port, secret=secret)}
    for method, path in routes(served):
        assert attempt(served, method, path, headers)[0] == 403, path


def test_the_token_is_no_cookie_and_an_old_token_opens_nothing(served: Served) -> None:
    with serving(FakeProduct(payments(50)), search=False) as earlier:
        old, old_cookie = earlier.token, earlier.cookie()
    assert served.request("GET", f"/?token={old}")[0] == 403
    assert served.request("GET", "/?token=")[0] == 403
    assert served.request("GET", f"/?token={served.token}x")[0] == 403
    assert served.request("GET", f"/?token={served.token}&token=x")[0] == 403
    name = served.cookie().split("=", 1)[0]
    for secret in (old_cookie.split("=", 1)[1], served.token):
        assert served.request("GET", "/api/table", {"Cookie": f"{name}={secret}"})[0] == 403
    # The token opens the page and nothing else.
    for method, path in routes(served):
        if path != "/":
            headers = without(served.allowed(), "Cookie")
            assert attempt(served, method, f"{path}?token={served.token}", headers)[0] == 403, path


def test_the_cookie_is_for_this_page_only(served: Served) -> None:
    status, headers, _ = served.request("GET", f"/?token={served.token}")
    assert status == 200
    said = [part.strip().lower() for part in headers["set-cookie"].split(";")]
    assert {"httponly", "samesite=strict", "path=/"} <= set(said)
    assert not any(part.startswith("domain") for part in said)
    assert served.token not in headers["set-cookie"]


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "https://{host}",
        "http://localhost:{port}",
        "http://127.0.0.1:1",
        "http://{host}/",
    ],
)
def test_only_the_page_itself_may_change_something(served: Served, origin: str | None) -> None:
    before = served.state.moment.version
    headers = without(served.allowed(), "Origin")
    if origin is not None:
        headers["Origin"] = origin.format(host=served.host, port=served.server.port)
    for method, path in routes(served):
        if method == "POST":
            assert attempt(served, method, path, headers)[0] == 403, path
    assert served.state.moment.version == before


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]
)
def test_a_form_of_another_site_is_refused_even_with_everything_else(served: Served, kind: str) -> None:
    headers = {**served.allowed(), "Content-Type": kind}
    for method, path in routes(served):
        if method == "POST":
            assert attempt(served, method, path, headers)[0] == 415, path


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_may_not_load_anything(served: Served, site: str) -> None:
    for method, path in routes(served):
        if method == "GET" and path != "/":
            assert attempt(served, method, path, {"Cookie": served.cookie(), "Sec-Fetch-Site": site})[0] == 403, path


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT"])
def test_other_methods_are_refused(served: Served, method: str) -> None:
    for _, path in routes(served):
        status, headers, _ = served.request(method, path, served.allowed())
        assert status in (400, 405), path
        assert "access-control-allow-origin" not in headers


def test_a_body_that_is_too_large_is_refused_whatever_it_says_of_itself(served: Served) -> None:
    large = json.dumps({"text": "x" * LARGEST_BODY})
    for method, path in routes(served):
        if method == "POST" and path != "/api/end":
            assert served.request(method, path, served.allowed(), large)[0] == 413, path
    chunk = b"x" * 65536
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for _ in range(6)) + b"0\r\n\r\n"
    headers = {**served.allowed(), "Transfer-Encoding": "chunked"}
    assert served.request("POST", "/api/rows", headers, body)[0] == 413
    assert served.request("POST", "/api/rows", {**served.allowed(), "Content-Length": "-1"})[0] in (400, 413)


def test_every_answer_carries_the_headers_that_keep_it_ours(served: Served) -> None:
    asked = [(method, path, served.allowed()) for method, path in routes(served) if path != "/api/end"]
    asked += [("GET", "/nowhere", served.allowed()), ("GET", "/api/table", {}), ("POST", "/api/rows", {})]
    for method, path, headers in asked:
        _, found, _ = attempt(served, method, path, headers)
        assert found["content-security-policy"].startswith("default-src 'self';"), path
        assert "frame-ancestors 'none'" in found["content-security-policy"]
        assert "unsafe" not in found["content-security-policy"]
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "no-referrer"
        assert found["cross-origin-resource-policy"] == "same-origin"
        assert found["cache-control"] == "no-store"
        assert not any(name.startswith("access-control") for name in found)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "//etc/passwd",
        "/static//etc/passwd",
        "/static/",
    ],
)
def test_no_path_comes_from_the_browser(served: Served, path: str) -> None:
    assert served.request("GET", path, served.allowed())[0] == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/rows", [1]),
        ("/api/rows", {"start": "0"}),
        ("/api/rows", {"start": 1.5}),
        ("/api/rows", {"sort": "nothing"}),
        ("/api/rows", {"sort": "column:nothing"}),
        ("/api/rows", {"within": [10**9]}),
        ("/api/rows", {"within": ["a"]}),
        ("/api/rows", {"within": [-1]}),
        ("/api/rows", {"kind": "none such"}),
        ("/api/rows", {"shown": "secret"}),
        ("/api/rows", {"text": "x", "column": "nothing"}),
        ("/api/rows", {"text": "> x", "column": "amount"}),
        ("/api/rows", {"text": "x" * 2000}),
        ("/api/answer", {"position": 3}),
        ("/api/answer", {"position": 3, "answer": "yes"}),
        ("/api/answer", {"position": True, "answer": True}),
        ("/api/answer", {"position": 200, "answer": True}),
        ("/api/answer", {"position": -1, "answer": True}),
        ("/api/threshold", {"threshold": 2}),
        ("/api/threshold", {"threshold": float("nan")}),
        ("/api/threshold", {"threshold": True}),
        ("/api/aim", {"aim": "win"}),
        ("/api/search", {"strategy": "best"}),
        ("/api/search", {"strategy": 3}),
        ("/api/search", {"left_out": "amount"}),
        ("/api/search", {"left_out": ["nothing"]}),
        ("/api/search", {"left_out": ["payment", "amount", "fee", "hour", "items", "country", "method"]}),
        ("/api/compare", {"one": "os.system", "other": "x"}),
        ("/api/undo", {}),
    ],
)
def test_a_request_that_means_nothing_changes_nothing(served: Served, path: str, body: object) -> None:
    before = served.state.moment.version
    status, said = served.post(path, body)
    assert status == 400
    assert said["error"].endswith(".")
    assert served.state.moment.version == before


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, '"' + "x" * 100, "\x00"])
def test_what_is_not_json_is_refused(served: Served, body: str) -> None:
    status, _, _ = served.request("POST", "/api/answer", served.allowed(), body)
    assert status == 400


def test_the_server_listens_on_this_machine_only(served: Served) -> None:
    assert served.server._socket.getsockname()[0] == "127.0.0.1"


def test_a_hostile_table_reaches_the_browser_as_json_text() -> None:
    frame = pl.DataFrame(
        {"<script>alert(1)</script>": ["=cmd|' /C calc'!A0", "</script><img src=x onerror=alert(1)>"], "b": [1.0, 50.0]}
    )
    with serving(FakeProduct(frame, name='"><script>alert(1)</script>\r\nX-Evil: 1.csv', id=None)) as served:
        ready(served.state)
        status, found, _ = served.request("POST", "/api/rows", served.allowed(), "{}")
        assert (status, found["content-type"]) == (200, "application/json")
        assert served.get("/api/row/1")[0] == 200
        status, found, _ = served.request("GET", "/download/csv", {"Cookie": served.cookie()})
        assert status == 200
        assert "x-evil" not in found
        assert found["content-disposition"].startswith("attachment; filename*=UTF-8''%22%3E%3Cscript%3E")
