// One row with everything about it: in the drawer beside the table, and as the card of a question.

import { answer, closeRow, openRow, undo } from "./act.js";
import { chanceBar, histogram } from "./charts.js";
import { breakable, fill, h } from "./dom.js";
import { get } from "./net.js";
import { count, readable, SAID } from "./words.js";

/** Buttons to answer about a row. */
export function answerButtons(row, { withUndo = false, canUndo = false } = {}) {
  const button = (key, said, word, text) =>
    h(
      "button",
      {
        type: "button",
        class: `say say-${word}`,
        "aria-pressed": String(row.answer === word),
        "aria-keyshortcuts": key,
        onclick: () => answer(row.position, said, row.row),
      },
      text,
      h("kbd", { "aria-hidden": "true" }, key),
    );
  return h(
    "div",
    { class: "answers", role: "group", "aria-label": `Is row ${row.row} odd?` },
    button("y", true, "yes", "Odd"),
    button("n", false, "no", "Fine"),
    button("?", null, "unknown", "Don't know"),
    withUndo &&
      h(
        "button",
        { type: "button", class: "quiet", "aria-keyshortcuts": "u", disabled: !canUndo, onclick: undo },
        "Undo",
        h("kbd", { "aria-hidden": "true" }, "u"),
      ),
  );
}

/** The card of a row: what it is, why, and its values among all others. */
export function rowCard(row, { heading = "h2", ...buttons } = {}) {
  const reasons = new Map(row.reasons.map((reason) => [reason.column, reason]));
  const first = row.columns.filter((c) => reasons.has(c.name));
  first.sort((a, b) => reasons.get(b.name).share - reasons.get(a.name).share);
  const rest = row.columns.filter((c) => !reasons.has(c.name));
  return [
    h(
      "div",
      { class: "row-head" },
      h(heading, { class: "row-name" }, row.row),
      h("p", { class: "dim" }, `number ${count(row.place)} in the ranking`),
      h("p", { class: "row-says" }, chanceBar(row.chance, row.flagged), h("span", {}, "chance"), kindTag(row)),
    ),
    answerButtons(row, buttons),
    h(
      "table",
      { class: "values" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "column"),
          h("th", { scope: "col" }, "this row"),
          h("th", { scope: "col", title: row.ordinary ? `row ${row.ordinary.row}` : null }, ordinaryHead(row)),
          h("th", { scope: "col" }, "all rows"),
        ),
      ),
      h(
        "tbody",
        {},
        [...first, ...rest].map((column) => valueRow(column, reasons.get(column.name))),
      ),
    ),
  ];
}

const kindTag = (row) => row.flagged && row.kind && h("span", { class: "tag" }, row.kind);

function ordinaryHead(row) {
  if (!row.ordinary) return "an ordinary row";
  return h(
    "button",
    { type: "button", class: "link", onclick: () => openRow(row.ordinary.position) },
    `ordinary: ${row.ordinary.row}`,
  );
}

function valueRow(column, reason) {
  const empty = h("span", { class: "dim" }, "missing");
  return h(
    "tr",
    { class: reason ? "odd" : null },
    h("th", { scope: "row" }, breakable(column.name), reason?.usual ? h("small", {}, reason.usual) : null),
    h("td", { class: "mine" }, value(column.value) || empty),
    h("td", { class: "dim" }, value(column.ordinary) ?? ""),
    h("td", { class: "chart" }, histogram(column.bars, column)),
  );
}

/** A value as people read it; a long text is scrolled in its own box. */
function value(text) {
  if (!text || text.length < 120) return text && h("span", { title: text }, readable(text));
  return h("div", { class: "long", tabindex: "0", role: "group", "aria-label": "a long text" }, text);
}

/** The drawer: shows the row of the address, and follows every change. */
export function drawer(element) {
  let shown = null;
  let wanted = null;
  let waiting = null;

  async function load(position) {
    waiting?.abort();
    waiting = new AbortController();
    try {
      const row = await get(`/api/row/${position}`, waiting.signal);
      const isNew = shown !== position;
      const top = element.scrollTop;
      shown = position;
      element.hidden = false;
      fill(element, [
        h(
          "button",
          { type: "button", class: "close quiet", "aria-label": "Close the row", onclick: close },
          "Close",
          h("kbd", { "aria-hidden": "true" }, "esc"),
        ),
        ...rowCard(row),
        row.answer && h("p", { class: "dim" }, `You said: ${SAID[row.answer]}.`),
      ]);
      element.scrollTop = isNew ? 0 : top;
    } catch (error) {
      if (error.name === "AbortError") return;
      element.hidden = false;
      fill(element, h("p", { class: "dim" }, error.message));
    }
  }

  function close() {
    closeRow();
    document.querySelector("[role=grid]")?.focus({ preventScroll: true });
  }

  return {
    update(now, position) {
      if (position === null || !now?.ranking) {
        waiting?.abort();
        element.hidden = true;
        shown = wanted = null;
        return;
      }
      const key = `${position} ${now.rows_version} ${now.ranking.threshold} ${now.found_version}`;
      if (key !== wanted) {
        wanted = key;
        load(position);
      }
    },
    close,
  };
}
