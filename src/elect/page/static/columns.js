// What was done with each column, how it is distributed, and a switch to leave it out.

import { search } from "./act.js";
import { histogram } from "./charts.js";
import { breakable, fill, h } from "./dom.js";
import { get } from "./net.js";
import { percent, plural } from "./words.js";

export function columnsView() {
  const body = h("tbody");
  const note = h("p", { class: "dim" }, "Switch a column off to search again without it. Answers stay.");
  const heads = ["use", "column", "all rows, flagged ones in red", "missing", "what was done"];
  const element = h(
    "section",
    { class: "view columns", "aria-label": "Columns" },
    note,
    h(
      "table",
      { class: "list" },
      h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col" }, name)))),
      body,
    ),
  );
  let version = null;

  function line(column, now, used) {
    const isApart = !isUsed(column) && !column.left_out;
    const isLast = used === 1 && isUsed(column);
    const box = h("input", {
      type: "checkbox",
      role: "switch",
      "aria-label": `Use the column ${column.name}`,
      disabled: isApart || isLast,
      onchange: () => {
        const left = new Set(now.left_out);
        if (box.checked) left.delete(column.name);
        else left.add(column.name);
        search([...left], now.strategy);
      },
    });
    box.checked = isUsed(column);
    return h(
      "tr",
      { class: isUsed(column) ? null : "off" },
      h("td", {}, box),
      h("th", { scope: "row" }, breakable(column.name), column.kind && h("small", {}, column.left_out ? "left out" : column.role !== "dropped" || column.kind === "id" ? column.kind : `dropped, ${column.kind}`)),
      h("td", { class: "chart" }, histogram(column.bars, { name: column.name, height: 40 }), words(column.bars)),
      h("td", { class: column.missing ? "number" : "none dim" }, column.missing ? percent(column.missing) : "–"),
      h("td", {}, column.done ?? "", column.why && h("small", {}, column.why)),
    );
  }

  /** Whether a column takes part: not the id, not the label, not one that was dropped. */
  const isUsed = (column) => !column.left_out && !["id", "label", "dropped"].includes(column.role);

  /** The commonest words, for columns that hold words. */
  function words(bars) {
    if (!bars.names || bars.distinct > 20) return null;
    const shown = bars.names.slice(0, 4).join(", ");
    return h("small", {}, bars.names.length > 4 ? `${shown}, …` : shown);
  }

  return {
    element,
    current: () => null,
    async update(now) {
      if (!now.ranking) return;
      const wanted = `${now.rows_version} ${now.found_version} ${now.ranking.threshold} ${now.left_out.join()}`;
      if (wanted === version) return;
      version = wanted;
      try {
        const found = await get("/api/columns");
        if (wanted !== version) return;
        const focus = document.activeElement?.getAttribute("aria-label");
        const used = found.columns.filter(isUsed).length;
        fill(body, found.columns.map((column) => line(column, now, used)));
        fill(note, [
          now.left_out.length ? `${plural(now.left_out.length, "column")} left out. ` : "",
          "Switch a column off to search again without it. Answers stay.",
        ]);
        if (focus) [...body.querySelectorAll("input")].find((box) => box.getAttribute("aria-label") === focus)?.focus();
      } catch (error) {
        fill(note, error.message);
      }
    },
  };
}
