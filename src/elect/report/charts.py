"""The pictures, as SVG that follows the colours of the page and says in words what it shows."""

from collections.abc import Callable, Sequence
from math import exp, log1p

from elect.core import SearchStep
from elect.report.markup import Html, tag
from elect.report.summary import Histogram, ScoreMap
from elect.support import wording

WIDTH = 640
LEFT = 62  # room for the numbers beside an axis


def score_histogram(found: Histogram, threshold: float, *, by_chance: bool = False) -> Html:
    """Rows by score, on a logarithmic scale so that a few outliers can be seen beside thousands of rows. Scores that
    are log-odds are written as the chances they stand for."""
    name = "chance" if by_chance else "score"

    def written(score: float) -> str:
        return wording.percent(1 / (1 + exp(-max(score, -700.0)))) if by_chance else wording.number(score)

    height, top, bottom, left = 220, 26, 48, LEFT
    plot_w, plot_h = WIDTH - left - 10, height - bottom - top
    low, high = found.edges[0], found.edges[-1]
    most = max(found.counts)

    def x(score: float) -> float:
        return left + plot_w * (score - low) / (high - low)

    bars = []
    for count, start, stop in zip(found.counts, found.edges, found.edges[1:], strict=False):
        if count:
            tall = plot_h * log1p(count) / log1p(most)
            above = (start + stop) / 2 > threshold
            bars.append(
                tag(
                    "rect",
                    x=_n(x(start) + 0.5),
                    y=_n(top + plot_h - tall),
                    width=_n(max(x(stop) - x(start) - 1, 1)),
                    height=_n(tall),
                    class_="bar hot" if above else "bar",
                )
            )
    at = x(threshold)
    anchor = "end" if at > WIDTH * 0.7 else "start"
    return _picture(
        height,
        f"How many rows have which {name}",
        f"{wording.count(sum(found.counts), 'row')} have a {name} from {written(low)} to {written(high)}; "
        f"the threshold is {written(threshold)}.",
        _y_ticks([0, *_powers(most)], lambda c: top + plot_h - plot_h * log1p(c) / log1p(most), left),
        bars,
        tag("line", x1=_n(at), x2=_n(at), y1="16", y2=_n(top + plot_h), class_="mark"),
        _text(at + (-5 if anchor == "end" else 5), 18, f"threshold {written(threshold)}", anchor),
        _text(left, height - 28, written(low), "start"),
        _text(WIDTH - 10, height - 28, written(high), "end"),
        _text(left + plot_w / 2, height - 8, f"{name} (higher is more outlying)", "middle"),
    )


def row_map(found: ScoreMap) -> Html:
    """The rows in two dimensions, coloured by how outlying they are."""
    height, pad = 400, 14
    dots = [
        tag(
            "circle",
            cx=_n(pad + (WIDTH - 2 * pad) * point.x),
            cy=_n(pad + (height - 2 * pad) * (1 - point.y)),
            r="4.5" if point.is_outlier else "2.5",
            class_="dot hot" if point.is_outlier else f"dot d{_level(point.level)}",
        )
        for point in found.points
    ]
    outliers = sum(point.is_outlier for point in found.points)
    return _picture(
        height,
        "The rows in two dimensions, coloured by score",
        f"{wording.count(len(found.points))} of {wording.count(found.n_rows, 'row')} along the two directions of "
        f"largest variance, which hold {wording.percent(found.shown_variance)} of it; {wording.count(outliers)} are "
        "above the threshold.",
        tag("rect", x="1", y="1", width=WIDTH - 2, height=height - 2, class_="frame"),
        dots,
    )


def trace_chart(trace: Sequence[SearchStep], changes: Sequence[int]) -> Html:
    """Mean similarity of the neighbours, expected improvement, and changes of the pick, by step."""
    panel, left, gap, top = 90, LEFT, 56, 28
    height = 2 * panel + gap + top + 28
    last = max(1, trace[-1].index)
    plot_w = WIDTH - left - 10

    def x(index: int) -> float:
        return left + plot_w * index / last

    similar = [(step.index, step.mean_similarity) for step in trace if step.mean_similarity is not None]
    gains = [(step.index, step.acquisition_value) for step in trace if step.acquisition_value is not None]
    below = top + panel + gap
    return _picture(
        height,
        "The search, step by step",
        f"{wording.count(len(trace), 'step')}; the pick changed at {', '.join(map(str, changes))}.",
        _text(left, 19, "mean similarity of the neighbour tasks", "start"),
        _line(similar, x, top, panel, left),
        [tag("circle", cx=_n(x(step)), cy=_n(top + panel + 12), r="3.5", class_="dot hot") for step in changes],
        _text(left, below - 9, "expected improvement of the next model", "start"),
        _line(gains, x, below, panel, left),
        _text(left, height - 6, "step 0", "start"),
        _text(WIDTH - 10, height - 6, f"step {last}", "end"),
    )


def share_bar(share: float, *, hot: bool = False) -> Html:
    """A small bar in a table; the number stands beside it."""
    wide = 60 * min(max(share, 0.0), 1.0)
    return tag(
        "svg",
        tag("rect", x="0", y="0", width="60", height="8", class_="track"),
        tag("rect", x="0", y="0", width=_n(wide), height="8", class_="bar hot" if hot else "bar"),
        viewBox="0 0 60 8",
        class_="share",
        aria_hidden="true",
    )


def dot(shade: str) -> Html:
    """A dot as the map draws it, for its key."""
    return tag("svg", tag("circle", cx="5", cy="5", r="5", class_=shade), viewBox="0 0 10 10", aria_hidden="true")


def _line(
    points: Sequence[tuple[int, float]], x: Callable[[int], float], top: float, tall: float, left: float
) -> list[Html]:
    if not points:
        return [_text(left + 8, top + tall / 2, "not reached", "start")]
    low = min(0.0, *(value for _, value in points), 0.0)
    high = max(value for _, value in points)
    high = high if high > low else low + 1.0

    def y(value: float) -> float:
        return top + tall - tall * (value - low) / (high - low)

    path = " ".join(
        f"{'L' if place else 'M'}{_n(x(index))} {_n(y(value))}" for place, (index, value) in enumerate(points)
    )
    return [
        *_y_ticks([low, high], y, left),
        tag("path", d=path, class_="curve"),
        *(tag("circle", cx=_n(x(index)), cy=_n(y(value)), r="2", class_="point") for index, value in points),
    ]


def _y_ticks(values: Sequence[float], y: Callable[[float], float], left: float) -> list[Html]:
    return [
        part
        for value in values
        for part in (
            tag("line", x1=_n(left), x2=_n(WIDTH - 10), y1=_n(y(value)), y2=_n(y(value)), class_="grid"),
            _text(
                left - 6,
                y(value) + 4,
                wording.count(int(value)) if value == int(value) else wording.number(value, 3),
                "end",
            ),
        )
    ]


def _tick(value: float) -> str:
    return wording.count(int(value)) if value == int(value) else wording.number(value, 3)


def _powers(most: int) -> list[float]:
    """Powers of ten up to a number: the ticks of a logarithmic scale."""
    return [float(10**power) for power in range(len(str(most))) if 10**power <= most]


def _picture(height: float, title: str, description: str, *parts: object) -> Html:
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *parts,
        viewBox=f"0 0 {WIDTH} {_n(height)}",
        role="img",
        aria_label=f"{title}. {description}",
        class_="chart",
    )


def _text(x: float, y: float, words: str, anchor: str) -> Html:
    return tag("text", words, x=_n(x), y=_n(y), text_anchor=anchor)


def _level(share: float) -> int:
    """One of five shades: half of the rows share the lightest, and the top two percent have the darkest."""
    return sum(share >= limit for limit in (0.5, 0.8, 0.93, 0.98))


def _n(number: float) -> str:
    return f"{float(number):.1f}".removesuffix(".0")
