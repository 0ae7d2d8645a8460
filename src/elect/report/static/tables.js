// Tables that can be sorted by a click on a head, and filtered by words or to the rows above the threshold.
// Nothing is read but what stands in the document; without this script the tables are simply there.
"use strict";

for (const table of document.querySelectorAll("table[data-sort]")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const names = heads.map((head) => head.textContent);

  function key(row, column) {
    const cell = row.cells[column];
    const value = cell.dataset.value ?? cell.textContent.trim();
    const number = value === "" ? NaN : Number(value);
    return Number.isNaN(number) ? value.toLowerCase() : number;
  }

  function compare(a, b) {
    // Cells without a value come last, whichever way the others go.
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
  }

  function sort(column, descending) {
    const keyed = rows.map((row, place) => [key(row, column), place, row]);
    const empty = (value) => value === "";
    keyed.sort((a, b) => {
      if (empty(a[0]) !== empty(b[0])) return empty(a[0]) ? 1 : -1;
      return (descending ? compare(b[0], a[0]) : compare(a[0], b[0])) || a[1] - b[1];
    });
    body.append(...keyed.map((entry) => entry[2]));
    heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    if (tools) {
      select.value = String(column);
      filter();
    }
  }

  // Numbers are most wanted from the largest on, names from the first on; a second click turns the order around.
  function turn(column) {
    const now = heads[column].getAttribute("aria-sort");
    sort(column, now === null ? heads[column].classList.contains("num") : now === "ascending");
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = names[column];
    button.addEventListener("click", () => turn(column));
    head.replaceChildren(button);
  });

  const tools = document.getElementById(table.dataset.sort);
  const select = tools ? tools.querySelector("select[name=order]") : null;
  if (!tools) continue;  // a table to be sorted only
  const words = tools.querySelector("input[type=search]");
  const only = tools.querySelector("input[type=checkbox]");
  const kind = tools.querySelector("select[name=kind]");
  const said = tools.querySelector("output");
  const more = document.createElement("button");
  let most = Number(tools.dataset.first);

  // Of the rows that fit, the first few in the present order are shown until more are asked for.
  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let fitting = 0;
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      const fits = wanted.every((word) => text.includes(word)) && (!only?.checked || "outlier" in row.dataset) && (!kind?.value || row.dataset.kind === kind.value);
      fitting += fits ? 1 : 0;
      row.hidden = !fits || fitting > most;
    }
    said.textContent = fitting === rows.length ? said.dataset.all : `${fitting} of ${said.dataset.all}`;
    more.hidden = fitting <= most;
    more.textContent = `Show all ${fitting}`;
  }

  more.type = "button";
  more.className = "more";
  more.addEventListener("click", () => {
    const next = Array.from(body.rows).find((row) => row.hidden);
    most = Infinity;
    filter();
    // Whoever came here by keyboard goes on with the first new row.
    next.tabIndex = -1;
    next.focus();
  });
  table.parentElement.after(more);

  names.forEach((name, column) => select.add(new Option(name, String(column))));
  select.selectedIndex = heads.findIndex((head) => head.hasAttribute("aria-sort"));
  select.addEventListener("change", () => sort(Number(select.value), heads[select.value].classList.contains("num")));
  words.addEventListener("input", filter);
  only?.addEventListener("change", filter);
  kind?.addEventListener("change", filter);
  tools.hidden = false;
  filter();
}
