"""A page that is really served, and a client that says exactly what it is told to say."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from elect.answers.kept import KeptAnswers
from elect.page.server import PageServer
from elect.page.state import PageState


@dataclass
class Served:
    state: PageState
    server: PageServer
    thread: threading.Thread

    @property
    def address(self) -> str:
        return self.server.address

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    @property
    def token(self) -> str:
        return self.address.split("token=")[1]

    def request(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | str | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request with these headers and no others; Host is ours unless it is said."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            content = body.encode() if isinstance(body, str) else body
            sent = {"Host": self.host, **(headers or {})}
            if content is not None and "Transfer-Encoding" not in sent:
                sent.setdefault("Content-Length", str(len(content)))
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            if found.get("content-type", "").startswith("text/event-stream"):
                return answer.status, found, answer.fp.readline()
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def cookie(self) -> str:
        _, headers, _ = self.request("GET", f"/?token={self.token}")
        return headers["set-cookie"].split(";")[0]

    def allowed(self) -> dict[str, str]:
        """The headers of the page's own requests."""
        return {"Cookie": self.cookie(), "Origin": f"http://{self.host}", "Content-Type": "application/json"}

    def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        status, _, content = self.request("POST", path, self.allowed(), json.dumps({} if body is None else body))
        return status, json.loads(content)

    def get(self, path: str) -> tuple[int, Any]:
        status, _, content = self.request("GET", path, {"Cookie": self.cookie()})
        return status, json.loads(content)


@contextmanager
def serving(product: Any, answers: Path | None = None, *, search: bool = True) -> Iterator[Served]:
    state = PageState(product, KeptAnswers(answers, product.row_ids))
    server = PageServer(state)
    thread = threading.Thread(target=server.run)
    thread.start()
    if search:
        state.search()
    served = Served(state, server, thread)
    try:
        yield served
    finally:
        if getattr(product, "hold", None) is not None:
            product.hold.set()
        server.end()
        thread.join(20)
        assert not thread.is_alive(), "the server did not end"


def until(true: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Wait for something that will be so soon."""
    for _ in range(int(seconds / 0.02)):
        found = true()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it never came true")


def ready(state: PageState) -> None:
    until(lambda: state.moment.phase == "ready" and state.moment.question is not None)


def axe_violations(page: Any) -> list[tuple[str, str]]:
    """What axe finds wrong with what a tab shows, for people who cannot see it, or not well."""
    found = pytest.importorskip("axe_playwright_python", reason="axe is not installed: accessibility was NOT tested")
    if not page.evaluate("'axe' in window"):
        page.evaluate((Path(found.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    told = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [(one["id"], str([node["html"][:200] for node in one["nodes"][:2]])) for one in told]
