"""Draws computed figures with matplotlib, as SVG. Nothing is computed here but positions."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from elect.bench.methods import ELECT

from . import paper_numbers as paper
from .figures import CriticalDifferenceInfo, IntervalsInfo, ParetoInfo
from .studies import AblationInfo, CaseInfo, SimilarityInfo

INK, MUTED, ACCENT, SECOND = "#222222", "#8a8a8a", "#c0392b", "#2c6fab"


def new_figure(width: float, height: float) -> Any:
    """A figure of its own: no window, no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_svg(figure: Any, folder: Path, name: str) -> Path:
    """Write ``name.svg``; equal figures give equal files."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.svg"
    with matplotlib.rc_context({"svg.hashsalt": "elect"}):
        figure.savefig(path, metadata={"Date": None})
    return path


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)


def _color(name: str) -> str:
    return ACCENT if name == ELECT else INK


def draw_critical_difference(info: CriticalDifferenceInfo) -> Any:
    """Methods on the axis of their average ranks; those joined by a bar do not differ by Nemenyi's test."""
    ordered = info.comparison.ordered
    half = (len(ordered) + 1) // 2
    cliques = info.comparison.cliques
    figure = new_figure(9.0, 1.7 + 0.27 * half + 0.12 * len(cliques))
    axes = figure.add_subplot()
    # Only the part of the axis that is used, and room for the critical difference.
    width = info.comparison.critical_difference
    low = max(1.0, np.floor(ordered[0][1]) - 1)
    high = max(np.ceil(ordered[-1][1]) + 1, np.ceil(low + width))
    axes.set_xlim(low - 0.30 * (high - low), high + 0.30 * (high - low))
    bars = 0.35 * len(cliques)
    axes.set_ylim(-(bars + 0.9 * half + 0.8), 2.4)
    axes.axis("off")
    axes.plot([low, high], [0, 0], color=INK, lw=1.2)
    for tick in range(int(low), int(high) + 1):
        axes.plot([tick, tick], [0, 0.22], color=INK, lw=1.0)
        axes.text(tick, 0.4, str(tick), ha="center", va="bottom", fontsize=9)
    axes.plot([low, low + width], [1.75, 1.75], color=INK, lw=1.5)
    axes.text(low + width + 0.02 * (high - low), 1.75, f"critical difference {width:.2f}", va="center", fontsize=9)
    rank_of = dict(ordered)
    for level, clique in enumerate(cliques):
        y = -0.35 * (level + 1)
        ends = [rank_of[clique[0]] - 0.03, rank_of[clique[-1]] + 0.03]
        axes.plot(ends, [y, y], color=MUTED, lw=4.5, solid_capstyle="butt")
    for place, (name, rank) in enumerate(ordered):
        left = place < half
        row = place if left else len(ordered) - 1 - place
        y = -(bars + 0.7 + 0.9 * row)
        edge = low - 0.04 * (high - low) if left else high + 0.04 * (high - low)
        axes.plot([rank, rank, edge], [0, y, y], color=_color(name), lw=1.6 if name == ELECT else 0.9)
        text = f"{name}  {rank:.2f}  (AP-rank {info.mean_ap_ranks[name]:.0f})"
        weight = "bold" if name == ELECT else "normal"
        side = {"ha": "right"} if left else {"ha": "left"}
        gap = (-0.008 if left else 0.008) * (high - low)
        axes.text(edge + gap, y, text, va="center", fontsize=9, color=_color(name), weight=weight, **side)
    axes.set_title(f"Average rank of the methods, lower is better: {info.title}", fontsize=10)
    return figure


def draw_pareto(info: ParetoInfo) -> Any:
    """Seconds (log) against mean AP-rank, with the paper's three zones of time."""
    figure = new_figure(8.0, 5.0)
    axes = figure.add_subplot()
    slowest = max(point.seconds for point in info.points)
    axes.set_xscale("log")
    axes.set_xlim(1.5e-4, max(60.0, slowest) * 3)
    ranks = [point.mean_rank for point in info.points]
    room = 0.06 * (max(ranks) - min(ranks)) + 2
    axes.set_ylim(min(ranks) - room, max(ranks) + room)
    for start, end, color in ((1.5e-4, 1, "#f6dede"), (1, 60, "#dfeaf5"), (60, 1e5, "#e0f0e0")):
        axes.axvspan(start, min(end, axes.get_xlim()[1]), color=color, lw=0, zorder=0)
    frontier = info.frontier
    line = [(p.seconds, p.mean_rank) for p in frontier]
    axes.plot(
        *zip(*line, strict=True),
        color=ACCENT,
        ls="--",
        lw=1.3,
        zorder=2,
        label="Pareto frontier",
        drawstyle="steps-post",
    )
    for p in info.points:
        face = _color(p.name) if p.is_meta_learning else "white"
        axes.scatter(p.seconds, p.mean_rank, s=42, facecolor=face, edgecolor=_color(p.name), zorder=3)
    axes.scatter([], [], s=42, facecolor=INK, edgecolor=INK, label="meta-learning")
    axes.scatter([], [], s=42, facecolor="white", edgecolor=INK, label="no meta-learning")
    _label_points(figure, axes, [(p.seconds, p.mean_rank, p.name) for p in info.points], line)
    axes.set_xlabel("CPU seconds a task to select (log); < 1 s, < 1 min, longer")
    axes.set_ylabel("mean AP-rank, lower is better")
    axes.set_title(f"Time against rank: {info.title}", fontsize=10)
    axes.legend(fontsize=8, loc="upper right", framealpha=0.9)
    _plain(axes)
    return figure


def _label_points(
    figure: Any, axes: Any, points: Sequence[tuple[float, float, str]], steps: Sequence[tuple[float, float]]
) -> None:
    """Write each name where it overlaps least with points, other names and the line of steps."""
    figure.canvas.draw()
    corners = [axes.transData.transform(step) for step in steps]
    lines = [(a[0], a[1] - 2, b[0], a[1] + 2) for a, b in pairwise(corners)]
    lines += [(b[0] - 2, min(a[1], b[1]), b[0] + 2, max(a[1], b[1])) for a, b in pairwise(corners)]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in (axes.transData.transform(p[:2]) for p in points)]
    taken += lines
    scale = figure.dpi / 72
    places = [
        (dx, dy, ha) for dy in (0, 9, -9, 17, -17, 25, -25) for dx, ha in ((8, "left"), (-8, "right"), (0, "center"))
    ]
    for x, y, name in points:
        px, py = axes.transData.transform((x, y))
        width, height = 5.6 * len(name) * scale, 10 * scale
        best, least = places[0], np.inf
        for dx, dy, ha in places:
            if dx == 0 and dy == 0:
                continue
            left = px + dx * scale - {"left": 0.0, "right": width, "center": width / 2}[ha]
            box = (left, py + dy * scale - height / 2, left + width, py + dy * scale + height / 2)
            cost = sum(_overlap(box, other) for other in taken) + 0.02 * (abs(dx) + abs(dy))
            if cost < least:
                best, least, chosen = (dx, dy, ha), cost, box
        taken.append(chosen)
        weight = "bold" if name == ELECT else "normal"
        far = abs(best[1]) > 9
        axes.annotate(
            name,
            (x, y),
            xytext=best[:2],
            textcoords="offset points",
            ha=best[2],
            va="center",
            fontsize=9,
            color=_color(name),
            weight=weight,
            arrowprops={"arrowstyle": "-", "color": MUTED, "lw": 0.5, "shrinkA": 0, "shrinkB": 3} if far else None,
        )


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def draw_similarities(infos: Sequence[SimilarityInfo]) -> Any:
    """The distribution of pairwise task similarities, one panel a testbed and source."""
    figure = new_figure(8.0, 1.2 + 1.5 * len(infos))
    panels = figure.subplots(len(infos), 1, sharex=True, squeeze=False)[:, 0]
    bins = np.linspace(-1, 1, 51)
    for axes, info in zip(panels, infos, strict=True):
        color = SECOND if info.testbed == "wild" else ACCENT
        axes.hist(info.values, bins=bins, density=True, color=color, alpha=0.55)
        told = paper.SIMILARITY_MEDIAN[info.testbed]
        axes.axvline(info.median, color=color, lw=2, label=f"median here {info.median:.3f}")
        axes.axvline(told, color=INK, lw=1.5, ls="--", label=f"median in the paper {told:.3f}")
        axes.set_ylabel("density", fontsize=9)
        axes.set_title(f"{info.label}: {len(info.values)} pairs of tasks", fontsize=10, loc="left")
        axes.legend(fontsize=8, loc="upper left", frameon=False)
        _plain(axes)
    panels[-1].set_xlabel("performance-driven similarity of two tasks (Eq. 1)")
    return figure


def draw_ablations(title: str, infos: Sequence[AblationInfo]) -> Any:
    """The ranks of ELECT's picks beside those of each variant, one dot a task."""
    rows = [(ELECT, infos[0].elect_ranks, "")]
    rows += [(info.variant, info.variant_ranks, f"one-sided p = {info.p_value:.3f}") for info in infos]
    figure = new_figure(8.0, 1.1 + 0.8 * len(rows))
    axes = figure.add_subplot()
    positions = np.arange(len(rows))[::-1]
    axes.boxplot(
        [ranks for _, ranks, _ in rows],
        positions=positions,
        orientation="horizontal",
        widths=0.5,
        showfliers=False,
        medianprops={"color": ACCENT, "lw": 2},
    )
    rng = np.random.default_rng(0)
    for y, (_, ranks, note) in zip(positions, rows, strict=True):
        axes.scatter(ranks, y + rng.uniform(-0.17, 0.17, len(ranks)), s=11, color=SECOND, alpha=0.65, zorder=3)
        text = f"median {np.median(ranks):.1f}, mean {np.mean(ranks):.1f}" + (f"\n{note}" if note else "")
        axes.text(1.01, y, text, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
    axes.set_yticks(positions, [name for name, _, _ in rows])
    axes.set_xlabel("AP-rank of the pick, one dot a task, lower is better")
    axes.set_title(title, fontsize=10)
    _plain(axes)
    return figure


def draw_case(info: CaseInfo) -> Any:
    """Similarity of the neighbours found and rank of the pick, iteration by iteration, the paper's points beside."""
    figure = new_figure(8.0, 5.2)
    top, bottom = figure.subplots(2, 1, sharex=True)
    x = [step.iteration for step in info.steps]
    told = paper.CASE_STUDY if info.task == paper.CASE_TASK else ()
    top.plot(x, [step.similarity for step in info.steps], color=SECOND, label="true mean similarity of the neighbours")
    top.plot(x, [step.estimated for step in info.steps], color=MUTED, ls=":", label="as estimated by the search")
    top.axhline(info.best_similarity, color=INK, lw=0.8, ls="--", label="of the truly nearest 5")
    top.scatter([s.iteration for s in told], [s.similarity for s in told], s=22, color=ACCENT, label="paper", zorder=3)
    top.set_ylabel("similarity")
    top.legend(fontsize=8, ncols=2, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    bottom.step(x, [step.rank for step in info.steps], where="mid", color=SECOND)
    bottom.scatter([s.iteration for s in told], [s.rank for s in told], s=22, color=ACCENT, zorder=3)
    bottom.set_ylabel("rank of the pick")
    bottom.set_xlabel("iteration (0: after the initial models)")
    bottom.set_ylim(bottom=0)
    for axes in (top, bottom):
        _plain(axes)
    where = f", {info.source} numbers" if info.source else ""
    figure.suptitle(f"The search on {info.task}{where}", fontsize=10)
    return figure


def draw_intervals(info: IntervalsInfo) -> Any:
    """Mean rank of every method with its interval, a colour a protocol."""
    figure = new_figure(8.0, 1.3 + 0.33 * len(info.rows))
    axes = figure.add_subplot()
    colors = {"loo": SECOND, "strict": "#e08214"}
    for place, row in enumerate(reversed(info.rows)):
        for i, protocol in enumerate(row.protocols):
            y = place + (0.15 if i == 0 else -0.15) * (len(row.protocols) > 1)
            label = protocol if place == 0 else None
            axes.plot([row.lows[i], row.highs[i]], [y, y], color=colors[protocol], lw=1.6, alpha=0.8)
            axes.scatter(row.estimates[i], y, s=26, color=colors[protocol], zorder=3, label=label)
    axes.axvline((info.n_models + 1) / 2, color=MUTED, lw=0.9, ls=":", label="any model")
    if info.paper is not None:
        axes.axvline(info.paper, color=ACCENT, lw=1.2, ls="--", label=f"ELECT in the paper ({info.paper:g})")
    axes.set_yticks(range(len(info.rows)), [row.name for row in reversed(info.rows)])
    for tick in axes.get_yticklabels():
        if tick.get_text() == ELECT:
            tick.set_color(ACCENT)
            tick.set_fontweight("bold")
    axes.set_xlabel("mean AP-rank with 95 % bootstrap interval, lower is better")
    axes.set_title(info.title, fontsize=10)
    axes.legend(fontsize=8, ncols=4, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    _plain(axes)
    return figure
