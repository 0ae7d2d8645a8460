"""The page in a real browser: when its first rows are on the screen, how soon an answer shows, what it holds in memory.

    python benchmarks/page.py [--json] [--runs 3]

``elect open`` is started as a person would start it and looked at with Debian's chromium through playwright; seconds
are counted from the start of the command. Memory is the peak of the process, next to that of ``elect detect`` on the
same table. The tables are made from a seed: factors with noise, a column of words, and some wrong values.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ELECT = Path(sys.executable).with_name("elect")
STATIC = Path(__file__).parent.parent / "src/elect/page/static"
VIEWS = ("map", "answers", "columns", "models", "save", "rows")
ANSWERS = 12


def table(path: Path, n: int, d: int) -> Path:
    """A table of ``d`` columns beside the id: numbers that hang together, one of words, wrong values in some rows."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d - 1)) + 0.5 * rng.normal(size=(n, d - 1))
    columns: dict[str, Any] = {"id": [f"R{i:06d}" for i in range(n)]}
    for j in range(d - 1):
        columns[f"m{j + 1:02d}"] = np.round(np.exp(0.3 * X[:, j]) * 10 if j % 3 == 0 else 5 * X[:, j] + 20, 3)
    for place, row in enumerate(rng.choice(n, n // 200, replace=False)):
        columns[f"m{1 + place % (d - 1):02d}"][row] *= (100, -1, 1000)[place % 3]
    columns["group"] = rng.choice(["north", "south", "east", "west"], n)
    pl.DataFrame(columns).write_csv(path)
    return path


class Opened:
    """``elect open`` on a table, and a tab that looks at it."""

    def __init__(self, path: Path, browser: Browser) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [ELECT, "open", str(path), "--id", "id", "--no-browser", "--json"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        said = ""
        while "}" not in said:
            said += self.process.stdout.readline()
        self.address = self.seconds()
        self.away: list[str] = []
        self.requests = 0
        told = json.loads(said)
        self._own = f"http://127.0.0.1:{told['port']}/"
        self.context: BrowserContext = browser.new_context(viewport={"width": 1280, "height": 800})
        self.page: Page = self.context.new_page()
        self.page.on("request", self._note)
        self.page.goto(told["address"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def _note(self, request: Any) -> None:
        self.requests += 1
        if not request.url.startswith((self._own, "data:", "blob:")):
            self.away.append(request.url)

    def ready(self) -> float:
        self.page.wait_for_selector("body[data-phase=ready]", timeout=120_000)
        return self.seconds()

    @property
    def cpu(self) -> float:
        """CPU seconds of the server so far: what is left of a measurement on a busy machine."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def peak(self) -> float:
        """The largest memory so far, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def first_rows(path: Path, browser: Browser) -> dict[str, float]:
    with Opened(path, browser) as opened:
        opened.page.wait_for_selector("#status:not(:empty)", timeout=60_000)
        progress = opened.seconds()
        opened.page.wait_for_selector("tr[data-position]", timeout=60_000)
        rows, cpu = opened.seconds(), opened.cpu
        return {
            "address": opened.address,
            "progress": progress,
            "first_rows": rows,
            "cpu_of_first_rows": cpu,
            "ready": opened.ready(),
        }


# From the key to the new order on the screen: the rows are drawn anew once the server has said it.
_ANSWER = """(key) => new Promise((done) => {
  const body = document.querySelector("[role=grid] tbody");
  const began = performance.now();
  const end = () => { seen.disconnect(); done(performance.now() - began); };
  const seen = new MutationObserver(() => requestAnimationFrame(end));
  seen.observe(body, { childList: true });
  document.querySelector("[role=grid]").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
})"""


def answers(opened: Opened) -> list[float]:
    """Milliseconds from an answer to the new order on the screen."""
    opened.ready()
    page, found = opened.page, []
    page.locator("[role=grid]").focus()
    page.keyboard.press("Home")
    for place in range(ANSWERS):
        found.append(float(page.evaluate(_ANSWER, "yn"[place % 2])))
        page.wait_for_timeout(400)
        for _ in range(3):
            page.keyboard.press("ArrowDown")
    return found


_SCROLL = """(steps) => new Promise((done) => {
  const scroller = document.querySelector(".scroller");
  const frames = [];
  let left = steps;
  let last = performance.now();
  const on = (now) => {
    frames.push(now - last);
    last = now;
    scroller.scrollTop += 900;
    if (left-- > 0) requestAnimationFrame(on);
    else done(frames.slice(1));
  };
  requestAnimationFrame(on);
})"""


def smoothness(opened: Opened) -> dict[str, float]:
    """Scrolling by 30 rows a frame: milliseconds a frame, and how long until the last rows of the table are there."""
    page = opened.page
    frames = [float(ms) for ms in page.evaluate(_SCROLL, 240)]
    began = time.perf_counter()
    page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
    page.wait_for_selector("tr[data-index='99999'][data-position]")
    end = time.perf_counter() - began
    drawn = page.locator("tr[data-index]").count()
    return {
        "frame_ms_median": statistics.median(frames),
        "frame_ms_p95": float(np.percentile(frames, 95)),
        "frames_over_50_ms": sum(ms > 50 for ms in frames) / len(frames),
        "end_of_table_ms": 1000 * end,
        "rows_drawn": drawn,
    }


def long_table(path: Path, browser: Browser, folder: Path) -> dict[str, Any]:
    with Opened(path, browser) as opened:
        opened.page.wait_for_selector("tr[data-position]", timeout=120_000)
        rows = opened.seconds()
        ready = opened.ready()
        scrolled = smoothness(opened)
        for view in VIEWS:
            opened.page.click(f"#tabs a[data-name={view}]")
            opened.page.wait_for_timeout(700)
        asked = answers(opened)
        peak = opened.peak
        away, requests = len(opened.away), opened.requests
    detect = peak_of([ELECT, "detect", str(path), "--id", "id", "-o", str(folder / "out.csv"), "-q"])
    return {
        "first_rows_seconds": rows,
        "ready_seconds": ready,
        "page_peak_mib": peak,
        "detect_peak_mib": detect,
        "ratio": peak / detect,
        "answer_ms_median": statistics.median(asked),
        "answer_ms_worst": max(asked),
        "scrolling": scrolled,
        "requests": requests,
        "requests_that_left_the_machine": away,
    }


def peak_of(command: list[Any]) -> float:
    """The largest memory of a command, in MiB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return used.ru_maxrss / 1024


def measured(runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder, load = Path(name), os.getloadavg()[0]
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        short, long = table(folder / "short.csv", 10_000, 30), table(folder / "long.csv", 100_000, 20)
        first_rows(short, browser)  # kernels are compiled, files are in the cache of the system
        starts = [first_rows(short, browser) for _ in range(runs)]
        with Opened(short, browser) as opened:
            asked = answers(opened)
            away, requests = len(opened.away), opened.requests
        found = {
            "load_average_at_the_start": load,
            "javascript_bytes": sum(file.stat().st_size for file in STATIC.glob("*.js")),
            "10000x30": {
                "start_seconds": {part: statistics.median(one[part] for one in starts) for part in starts[0]},
                "first_rows_seconds_of_each_run": [one["first_rows"] for one in starts],
                "answer_ms_median": statistics.median(asked),
                "answer_ms_worst": max(asked),
                "requests": requests,
                "requests_that_left_the_machine": away,
            },
            "100000x20": long_table(long, browser, folder),
        }
        browser.close()
    return found


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 3) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--runs", type=int, default=3, help="starts to take the median of")
    given = parser.parse_args()
    found = rounded(measured(given.runs))
    if given.json:
        print(json.dumps(found, indent=2))
        return
    start, long = found["10000x30"], found["100000x20"]
    print(f"first rows at 10,000 x 30: {start['start_seconds']['first_rows']:.2f} s (bar 5)")
    print(f"  CPU seconds of them: {start['start_seconds']['cpu_of_first_rows']:.2f}")
    print(f"progress seen after: {start['start_seconds']['progress']:.2f} s")
    print(f"answer to new order: {start['answer_ms_median']:.0f} ms, worst {start['answer_ms_worst']:.0f} (bar 300)")
    print(f"memory at 100,000 x 20: {long['page_peak_mib']:.0f} MiB, {long['ratio']:.2f} of elect detect's (bar 2)")
    print(f"scrolling 100,000 rows: {long['scrolling']['frame_ms_p95']:.0f} ms a frame (95th percentile)")
    print(f"requests that left the machine: {start['requests_that_left_the_machine']} of {start['requests']}")
    print(f"JavaScript: {found['javascript_bytes']:,} bytes (bar 80,000)")


if __name__ == "__main__":
    main()
