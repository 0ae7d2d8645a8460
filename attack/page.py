"""Requests to the page of ``elect open`` from whoever is not the page, and nonsense from whoever is."""

import http.client
import json
import socket
import threading
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.verdict import REFUSED, RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 2000, 250, 90

ROUTES = (
    *("/", "/api/table", "/api/row/3", "/api/row/999999", "/api/row/-1", "/api/row/x", "/api/map", "/api/columns"),
    *("/api/models", "/api/rows", "/api/rows", "/api/find", "/api/compare", "/api/answer", "/api/answer", "/api/undo"),
    *("/api/aim", "/api/threshold", "/api/search", "/api/stop", "/api/events", "/download/csv", "/download/html"),
    *("/download/parquet", "/download/report", "/download/detector", "/download/answers", "/download/x"),
    *("/static/app.js", "/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd", "/../etc/passwd"),
    *("//", "/api", "/api/rows?x=1", "/%00", "/static/%00", "/nosuch", "*", "http://evil.example/", "/?token=x"),
)
READ = frozenset((*ROUTES[:9], *ROUTES[20:]))
NAMES = (
    *("position", "answer", "row", "one", "other", "aim", "chance", "left_out", "start", "stop", "sort", "order"),
    *(
        "text",
        "only",
        "kind",
        "column",
        "by",
        "from",
        "to",
        "descending",
        "search",
        "shown",
        "within",
        "count",
        "threshold",
    ),
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        3,
        59,
        60,
        10**9,
        10**30,
        10**400,
        1.5,
        -0.0,
        1e308,
        5e-324,
        "",
        "a",
        "x",
        "id",
        "r3",
    ),
    *(
        "<script>",
        "\x00",
        "\ud83d",
        "x" * 10_000,
        "find",
        "learn",
        "yes",
        [],
        [1, 2],
        ["a"],
        [[]],
        {},
        {"a": 1},
        [None] * 50,
    ),
)
_body = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=4).map(
    lambda value: json.dumps(value)
)
_headers = st.dictionaries(
    st.sampled_from(
        ("Host", "Origin", "Referer", "Cookie", "Content-Type", "Content-Length", "Transfer-Encoding", "Sec-Fetch-Site")
    ),
    st.sampled_from(
        (
            *(
                "",
                "evil.example",
                "http://evil.example",
                "null",
                "127.0.0.1",
                "localhost",
                "text/plain",
                "-1",
                "0",
                "5",
            ),
            *(
                "application/json",
                "chunked",
                "cross-site",
                "elect=x",
                "99999999999",
                "application/x-www-form-urlencoded",
            ),
        )
    ),
    max_size=3,
)


def cases() -> st.SearchStrategy[Any]:
    """``inside`` shows the cookie and the origin of the page; whoever does not must get nothing."""
    proper = [(method, path) for path in ROUTES[:28] for method in (("GET",) if path in READ else ("POST",))]
    return st.fixed_dictionaries(
        {
            "inside": st.sampled_from((True, True, True, False)),
            "proper": st.one_of(st.none(), st.sampled_from(proper)),
            "method": st.sampled_from(
                (
                    "GET",
                    "GET",
                    "GET",
                    "POST",
                    "POST",
                    "POST",
                    "POST",
                    "PUT",
                    "DELETE",
                    "HEAD",
                    "OPTIONS",
                    "TRACE",
                    "get",
                    "X",
                )
            ),
            "path": st.sampled_from(ROUTES),
            "headers": st.one_of(st.just({}), st.just({}), _headers),
            "body": st.one_of(_body, st.sampled_from(("", "{", "[]", "null", "1", '"x"', "[" * 5000, '{"a":1}' * 3))),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    page = _page()
    if case["proper"]:
        case = {**case, "method": case["proper"][0], "path": case["proper"][1]}
    if "Content-Length" in case["headers"] or "Transfer-Encoding" in case["headers"]:
        return _raw(page, case)
    headers = {**(page["allowed"] if case["inside"] else {"Host": page["host"]}), **case["headers"]}
    connection = http.client.HTTPConnection("127.0.0.1", page["port"], timeout=30)
    try:
        connection.putrequest(case["method"], case["path"], skip_host=True, skip_accept_encoding=True)
        content = case["body"].encode()
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            connection.putheader(name, value)
        connection.endheaders(content)
        answer = connection.getresponse()
        stream = (answer.getheader("content-type") or "").startswith("text/event-stream")
        told = b"" if stream else answer.read()
    finally:
        connection.close()
    return _judged(case, page, answer.status, told, headers)


def _judged(case: dict[str, Any], page: Any, status: int, told: bytes, headers: dict[str, str]) -> Verdict:
    if status >= 500 and status != 503:
        return wrong(f"{case['method']} {case['path']}: status {status}: {told[:300]!r}")
    inside = case["inside"] and not any(name in case["headers"] for name in ("Host", "Origin", "Cookie"))
    if not inside and status < 400:
        shows = headers.get("Cookie", "") == page["allowed"]["Cookie"] and headers.get("Host") == page["host"]
        if not (shows and case["method"] in ("GET", "HEAD")):
            return wrong(f"{case['method']} {case['path']} let in: {status} {headers}")
    if b"Traceback" in told or (b"r3,3.5" in told and not inside):
        return wrong(f"{case['path']} tells {told[:200]!r}")
    if status >= 400:
        return REFUSED
    return RESULT


def _raw(page: Any, case: dict[str, Any]) -> Verdict:
    """A request whose length is a lie: an answer or an end, and the page lives on."""
    headers = {**(page["allowed"] if case["inside"] else {"Host": page["host"]}), **case["headers"]}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    request = f"{case['method']} {case['path']} HTTP/1.1\r\n{lines}\r\n{case['body']}"
    with socket.create_connection(("127.0.0.1", page["port"]), timeout=10) as connection:
        connection.sendall(request.encode(errors="replace"))
        connection.shutdown(socket.SHUT_WR)
        told = b""
        try:
            while len(told) < 100_000 and (chunk := connection.recv(65536)):
                told += chunk
                if b"text/event-stream" in told:
                    break
        except (TimeoutError, ConnectionError):
            pass
    first = told.split(b"\r\n", 1)[0].split()
    status = int(first[1]) if len(first) > 1 and first[1].isdigit() else 400
    alive = http.client.HTTPConnection("127.0.0.1", page["port"], timeout=30)
    alive.request("GET", "/api/table", headers={"Cookie": page["allowed"]["Cookie"]})
    if alive.getresponse().status != 200:
        return wrong("the page does not answer any more")
    alive.close()
    return _judged(case, page, status, told, headers)


_served: dict[str, Any] = {}


def _page() -> dict[str, Any]:
    """A page that is served in this process for as long as it lives."""
    if not _served:
        import tempfile

        from attack.invocations import TABLE
        from elect.answers.kept import KeptAnswers
        from elect.detect import Options, open_table
        from elect.page.product import TableProduct
        from elect.page.server import PageServer
        from elect.page.state import PageState
        from elect.tables import read_table

        folder = Path(tempfile.mkdtemp(prefix="attack-"))
        path = folder / "t.csv"
        path.write_text(TABLE)
        product = TableProduct(path, open_table(read_table(path), 0), None, Options(id="id", n_jobs=1))
        state = PageState(product, KeptAnswers(folder / "answers.csv", product.row_ids, cells=product.frame))
        server = PageServer(state, 0)
        threading.Thread(target=server.run, daemon=True).start()
        state.search()
        host = f"127.0.0.1:{server.port}"
        token = server.address.split("token=")[1]
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", f"/?token={token}")
        answer = connection.getresponse()
        cookie = (answer.getheader("set-cookie") or "").split(";")[0]
        connection.close()
        _served.update(
            port=server.port,
            host=host,
            allowed={
                "Host": host,
                "Cookie": cookie,
                "Origin": f"http://{host}",
                "Content-Type": "application/json",
            },
        )
    return _served
