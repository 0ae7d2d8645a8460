// Rows in the plane on a canvas, beside the list of those that matter: hovering one marks the other.

import { openRow, say } from "./act.js";
import { chanceBar } from "./charts.js";
import { fill, h } from "./dom.js";
import { get, post } from "./net.js";
import { go, PLAIN, store, view } from "./store.js";
import { chanceText, plural, reasonsLine } from "./words.js";

const EDGE = 14;

export function mapView() {
  const canvas = h("canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "map of rows",
    "aria-label": "Rows in the plane. Left and right go from row to row by chance, Enter opens one.",
  });
  const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const note = h("p", { class: "dim" });
  const list = h("ol", { class: "short-list" });
  const listed = h("h2", {}, "The oddest rows");
  const filter = h("button", { type: "button", onclick: () => go({ name: "rows", query: { ...PLAIN, within: inside } }) }, "Show them in the table");
  const clear = h("button", { type: "button", class: "quiet", onclick: () => select(null) }, "Clear");
  const heard = h("p", { class: "unseen", role: "status" });
  const element = h(
    "section",
    { class: "view map", "aria-label": "Map" },
    h(
      "div",
      { class: "plane" },
      h("div", { class: "canvas" }, canvas, tip),
      h(
        "div",
        { class: "key" },
        h("span", { class: "k-low" }, "ordinary"),
        h("span", { class: "k-mid" }, "unusual"),
        h("span", { class: "k-hot" }, "flagged"),
        h("span", {}, "Drag to draw a lasso."),
      ),
      note,
      heard,
    ),
    h("div", { class: "beside" }, h("div", { class: "beside-head" }, listed, filter, clear), list),
  );

  let points = null;
  let version = null;
  let hover = null;
  let path = null;
  let inside = null;
  let colors = null;
  let step = -1;
  let rows = [];

  const place = (i) => {
    const [w, hgt] = [canvas.clientWidth, canvas.clientHeight];
    return [EDGE + points.x[i] * (w - 2 * EDGE), hgt - EDGE - points.y[i] * (hgt - 2 * EDGE)];
  };

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    colors = { shades: ["--d1", "--d2", "--d3", "--d4"].map(color), hot: color("--hot"), ring: color("--fg"), line: color("--accent") };
  }

  function draw() {
    if (!points || !element.isConnected) return;
    const ratio = window.devicePixelRatio || 1;
    const [w, hgt] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(hgt * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(hgt * ratio);
    }
    if (!colors) readColors();
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, w, hgt);
    const limit = store.now.ranking.threshold;
    const chosen = inside && new Set(inside);
    for (let i = 0; i < points.positions.length; i += 1) {
      const [x, y] = place(i);
      const chance = points.chance[i];
      pen.globalAlpha = chosen && !chosen.has(points.positions[i]) ? 0.15 : 0.85;
      pen.fillStyle = chance >= limit ? colors.hot : colors.shades[Math.min(3, Math.floor((chance / Math.max(limit, 0.01)) * 4))];
      pen.beginPath();
      pen.arc(x, y, chance >= limit ? 4.5 : 2.5 + 1.5 * chance, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = colors.ring;
    for (const position of new Set([view.row, hover === null ? null : points.positions[hover]])) {
      const i = position === null ? -1 : points.positions.indexOf(position);
      if (i < 0) continue;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(...place(i), 8, 0, 7);
      pen.stroke();
    }
    if (path) {
      pen.strokeStyle = colors.line;
      pen.lineWidth = 1.5;
      pen.beginPath();
      path.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.stroke();
    }
  }

  // The pointer.

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  function nearest([px, py]) {
    let [best, away] = [null, 14 ** 2];
    for (let i = 0; i < (points?.positions.length ?? 0); i += 1) {
      const [x, y] = place(i);
      const d = (x - px) ** 2 + (y - py) ** 2;
      if (d <= away) [best, away] = [i, d];
    }
    return best;
  }

  function point(i, spoken = false) {
    if (i === hover) return;
    hover = i;
    tip.hidden = i === null;
    if (i !== null) {
      const [x, y] = place(i);
      const text = `${points.names[i]}, ${chanceText(points.chance[i])}`;
      tip.textContent = text;
      tip.style.left = `${Math.min(x + 12, canvas.clientWidth - 150)}px`;
      tip.style.top = `${Math.max(y - 30, 4)}px`;
      if (spoken) heard.textContent = text;
    }
    markList();
    draw();
  }

  canvas.addEventListener("pointermove", (event) => {
    const where = at(event);
    if (!path) return point(nearest(where));
    const [x, y] = path.at(-1);
    if ((where[0] - x) ** 2 + (where[1] - y) ** 2 > 9) path.push(where);
    return draw();
  });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    path = [at(event)];
  });
  canvas.addEventListener("pointerup", (event) => {
    const drawn = path;
    path = null;
    if (drawn && drawn.length > 6) select(within(drawn));
    else {
      const i = nearest(at(event));
      if (i !== null) openRow(points.positions[i]);
    }
    draw();
  });
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (!points) return;
    if (event.key in moves) {
      event.preventDefault();
      step = Math.max(0, Math.min(points.positions.length - 1, step + moves[event.key]));
      point(points.positions.length - 1 - step, true);
    } else if (event.key === "Enter" && hover !== null) openRow(points.positions[hover]);
  });

  function within(polygon) {
    const found = [];
    for (let i = 0; i < points.positions.length; i += 1) {
      const [x, y] = place(i);
      let isIn = false;
      for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a, a += 1) {
        const [[ax, ay], [bx, by]] = [polygon[a], polygon[b]];
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isIn = !isIn;
      }
      if (isIn) found.push(points.positions[i]);
    }
    return found;
  }

  function select(found) {
    if (found && !found.length) {
      say("There is no row inside.");
      found = null;
    }
    inside = found;
    fill(listed, inside ? `${plural(inside.length, "row")} in the lasso` : "The oddest rows");
    filter.hidden = clear.hidden = !inside;
    draw();
    loadList();
  }

  // The list beside it.

  async function loadList() {
    try {
      const found = await post("/api/rows", { start: 0, count: 60, within: inside });
      rows = found.rows;
      fill(
        list,
        rows.map((row) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                "data-position": row.position,
                onclick: () => openRow(row.position),
                onpointerenter: () => point(index(row.position)),
                onpointerleave: () => point(null),
                onfocus: () => point(index(row.position)),
              },
              h("b", {}, row.row),
              chanceBar(row.chance, row.flagged),
              h("span", { class: "dim" }, reasonsLine(row) || (row.flagged ? row.kind : "")),
            ),
          ),
        ),
      );
    } catch (error) {
      say(error.message, true);
    }
  }

  const index = (position) => {
    const i = points?.positions.indexOf(position) ?? -1;
    return i < 0 ? null : i;
  };

  function markList() {
    const position = hover === null ? null : points.positions[hover];
    for (const button of list.querySelectorAll("button")) {
      button.classList.toggle("hover", Number(button.dataset.position) === position);
    }
  }

  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    colors = null;
    draw();
  });

  return {
    element,
    current: () => null,
    async update(now) {
      filter.hidden = clear.hidden = !inside;
      const wanted = `${now.rows_version} ${now.found_version}`;
      if (!now.ranking) {
        fill(note, "The map is drawn in a moment, with the first rows.");
        return;
      }
      if (wanted !== version) {
        version = wanted;
        try {
          points = await get("/api/map");
          fill(note, points.note);
        } catch (error) {
          version = null;
          fill(note, error.message);
        }
        loadList();
      }
      draw();
    },
  };
}
