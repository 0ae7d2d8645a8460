// Small pictures in SVG. Each has a name for those who do not see it.

import { h, svg } from "./dom.js";
import { chanceText, percent, plural } from "./words.js";

const W = 160;

/** The histogram of a column, flagged rows on top, the place of one row marked if there is one. */
export function histogram(bars, { name, value = null, bin = null, number = null, height = 34 }) {
  const total = bars.counts.reduce((sum, c) => sum + c, 0) || 1;
  if (bars.distinct > Math.max(20, total / 2)) return h("small", {}, plural(bars.distinct, "different value"));
  if (bars.edges ? bars.ends[0] === bars.ends[1] : bars.counts.length === 1 && !bars.missing) {
    return h("small", {}, "the same in all rows");
  }
  const n = bars.counts.length || 1;
  const most = Math.max(1, ...bars.counts.map((c) => Math.sqrt(c)));
  const step = W / n;
  const gap = step > 5 ? 1 : 0.5;
  const tall = (c) => (c > 0 ? Math.max(1.5, (Math.sqrt(c) / most) * (height - 8)) : 0);
  const picture = [];
  bars.counts.forEach((c, i) => {
    if (!c) return;
    const here = bars.names && bin === i;
    const up = tall(c);
    const place = { x: i * step + gap / 2, width: step - gap };
    picture.push(svg("rect", { ...place, y: height - up, height: up, class: here ? "here" : "bar" }));
    const hot = bin === null ? tall(bars.flagged[i]) : 0;
    if (hot) picture.push(svg("rect", { ...place, y: height - hot, height: hot, class: "hot" }));
  });
  if (bars.edges && bin !== null && bin >= 0) {
    const [low, high] = [bars.edges[0], bars.edges.at(-1)];
    const at = number === null ? (bin + 0.5) / n : (number - low) / (high - low);
    // A value beyond the picture has an arrow that points out of it.
    const out = at < 0 ? -1 : at > 1 ? 1 : 0;
    const x = Math.min(Math.max(at, 0.012), 0.988) * W;
    const tip = out ? `M${x + out * 2} 4L${x - out * 7} 0V8Z` : `M${x} 7L${x - 4} 0H${x + 4}Z`;
    picture.push(svg("path", { d: tip, class: out ? "pin beyond" : "pin" }));
    picture.push(svg("line", { x1: x, x2: x, y1: 6, y2: height, class: out ? "pinline beyond" : "pinline" }));
  }
  const drawn = svg(
    "svg",
    {
      viewBox: `0 0 ${W} ${height}`,
      class: "histogram",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": described(bars, name, value, bin),
    },
    picture,
  );
  const share = bin === null || bin < 0 ? null : `${percent(bars.counts[bin] / total)} of rows`;
  const ends = bars.edges
    ? bars.ends.map((end) => h("span", {}, end))
    : [h("span", {}, share ?? plural(bars.distinct, "different value"))];
  return h("div", { class: "figure" }, drawn, h("div", { class: "axis", "aria-hidden": "true" }, ends));
}

function described(bars, name, value, bin) {
  const flagged = bars.flagged.reduce((sum, c) => sum + c, 0);
  const range = bars.edges ? `from ${bars.ends[0]} to ${bars.ends[1]}` : bars.names.join(", ");
  const what = `Distribution of ${name}, ${range}; ${plural(flagged, "flagged row")}`;
  if (bin === null) return what;
  if (bin < 0) return `${what}. This row has no value here`;
  const total = bars.counts.reduce((sum, c) => sum + c, 0) || 1;
  return `${what}. This row has ${value}, and ${percent(bars.counts[bin] / total)} of the rows are about there`;
}

/** How likely a row is, as a bar with its percentage. */
export function chanceBar(chance, isFlagged) {
  const filled = h("span", { class: isFlagged ? "filled hot" : "filled", style: { width: `${chance * 100}%` } });
  return h(
    "span",
    { class: "chance" },
    h("span", { class: "track", "aria-hidden": "true" }, filled),
    h("span", { class: "figure-text" }, chanceText(chance)),
  );
}

/** Curves over the steps of the search: how similar the neighbours are, and what the next model was worth. */
export function trace(steps) {
  const [width, height, left, bottom] = [640, 190, 34, 22];
  const n = Math.max(steps.length - 1, 1);
  const x = (i) => left + (i / n) * (width - left - 8);
  const y = (v) => 8 + (1 - v) * (height - bottom - 8);
  const worth = steps.map((s) => s.expected_improvement);
  const most = Math.max(...worth.map((v) => v ?? 0), 1e-12);
  const path = (values) => {
    let drawn = "";
    let pen = false;
    values.forEach((v, i) => {
      if (v === null) pen = false;
      else {
        drawn += `${pen ? "L" : "M"}${x(i).toFixed(1)} ${y(Math.max(0, Math.min(1, v))).toFixed(1)}`;
        pen = true;
      }
    });
    return drawn;
  };
  const lines = [0, 0.5, 1].map((v) => [
    svg("line", { x1: left, x2: width - 8, y1: y(v), y2: y(v), class: "grid" }),
    svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, String(v)),
  ]);
  const changes = steps
    .filter((s, i) => i > 0 && s.pick !== steps[i - 1].pick)
    .map((s) => svg("circle", { cx: x(steps.indexOf(s)), cy: y(0), r: 4, class: "turn" }, svg("title", {}, s.pick)));
  return h(
    "figure",
    { class: "trace" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `The search over ${plural(steps.length, "step")}; the pick changed ${plural(changes.length, "time")}`,
      },
      lines,
      svg("path", { d: path(steps.map((s) => s.similarity)), class: "curve" }),
      svg("path", { d: path(worth.map((v) => (v === null ? null : v / most))), class: "curve second" }),
      changes,
      svg("text", { x: left, y: height - 5 }, "first step"),
      svg("text", { x: width - 8, y: height - 5, "text-anchor": "end" }, `step ${steps.at(-1)?.index ?? 0}`),
    ),
    h(
      "figcaption",
      { class: "key" },
      h("span", { class: "k-curve" }, "similarity of the neighbours"),
      h("span", { class: "k-second" }, "expected improvement (of its largest)"),
      h("span", { class: "k-turn" }, "the pick changed"),
    ),
  );
}
