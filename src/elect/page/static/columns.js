// What was done with each column, how it is distributed, and a switch to leave it out.

import { search } from "./act.js";
import { histogram } from "./charts.js";
import { fill, h } from "./dom.js";
import { get } from "./net.js";
import { percent, plural } from "./words.js";

export function columnsView() {
  const body = h("tbody");
  const note = h("p", { class: "dim" }, "Switch a column off to search again without it. Answers stay.");
  const heads = ["use", "column", "what was done", "missing", "all rows, flagged ones on top"];
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
    const isId = column.role === "id" || column.role === "label";
    const isLast = used === 1 && !column.left_out && !isId;
    const box = h("input", {
      type: "checkbox",
      role: "switch",
      "aria-label": `Use the column ${column.name}`,
      disabled: isId || isLast,
      onchange: () => {
        const left = new Set(now.left_out);
        if (box.checked) left.delete(column.name);
        else left.add(column.name);
        search([...left]);
      },
    });
    box.checked = !column.left_out && !isId;
    return h(
      "tr",
      { class: column.left_out ? "off" : null },
      h("td", {}, box),
      h("th", { scope: "row" }, column.name, column.kind && h("small", {}, column.role === "feature" || column.role === column.kind ? column.kind : `${column.role}, ${column.kind}`)),
      h("td", {}, column.done ?? "", column.why && h("small", {}, column.why)),
      h("td", { class: "number" }, column.missing ? percent(column.missing) : "none"),
      h("td", { class: "chart" }, histogram(column.bars, { name: column.name, height: 44 }), words(column.bars)),
    );
  }

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
        const used = found.columns.filter((c) => !c.left_out && c.role !== "id" && c.role !== "label").length;
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
