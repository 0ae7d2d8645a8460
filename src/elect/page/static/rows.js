// The ranked table. Only the rows that are seen exist; they are fetched by range, in blocks.

import { answer, isOpen, openRow, say } from "./act.js";
import { chanceBar } from "./charts.js";
import { fill, h, later } from "./dom.js";
import { post } from "./net.js";
import { go, PLAIN, store, view } from "./store.js";
import { threshold } from "./threshold.js";
import { count, plural, readable, reasonsLine } from "./words.js";

const HEIGHT = 30;
const BLOCK = 100;
const SPARE = 12;
const MANY = 40;

export function rowsView() {
  const slider = threshold();
  const bar = toolbar();
  const table = h("table", {
    role: "grid",
    tabindex: "0",
    "aria-label": "Rows, the oddest first",
    onkeydown: (event) => onKey(event),
  });
  const scroller = h("div", { class: "scroller", onscroll: () => requestAnimationFrame(() => draw()) }, table);
  const empty = h("p", { class: "empty dim", hidden: true });
  const element = h("section", { class: "view rows", "aria-label": "Rows" }, slider.element, bar.element, scroller, empty);

  const drawn = new Map();
  let body = null;
  let pads = null;
  let blocks = new Map();
  let total = 0;
  let active = 0;
  let key = null;
  let asked = null;
  let sorted = null;
  let ends = [];
  let span = [0, Infinity];
  let isNarrow = false;
  const waiting = new Map();

  const columns = () => store.table.columns.map((c, place) => ({ ...c, place })).filter((c) => c.name !== store.table.id);
  const hasKinds = () => store.now.ranking.kinds.length > 0;

  /** The page's own columns. On a phone the reasons come into sight first. */
  const ownColumns = () =>
    ["place", "row", "chance", ...(isNarrow ? ["why", "ask", "kind"] : ["ask", "kind", "why"])].filter((name) => name !== "kind" || hasKinds());

  // The head and the widths.

  function head() {
    isNarrow = matchMedia("(max-width: 760px)").matches;
    const own = {
      place: { sort: "place", text: "#", width: Math.max(2.4, 1.2 + 0.5 * count(store.table.rows).length), number: true, still: true },
      row: { sort: "row", text: store.table.id, width: Math.min(named(), isNarrow ? 6.6 : 12) },
      chance: { sort: "chance", text: "chance", width: isNarrow ? 7 : 7.6 },
      ask: { sort: null, text: "odd?", width: 4.7, still: true },
      kind: { sort: "kind", text: "kind", width: 10 },
      why: { sort: null, text: "why", width: isNarrow ? 18 : 21, still: true },
    };
    const heads = [
      ...ownColumns().map((name) => own[name]),
      ...columns().map((c) => ({ sort: `column:${c.name}`, text: c.name, width: wide(c), number: c.number })),
    ];
    const cells = heads.map((one) => {
      const isSorted = view.query.sort === one.sort;
      const direction = isSorted ? (view.query.descending ? "descending" : "ascending") : null;
      const arrow = isSorted ? (view.query.descending ? " ↓" : " ↑") : "";
      const label = one.still ? one.text : h("button", { type: "button", class: "sort", onclick: () => sortBy(one.sort, isSorted) }, one.text, h("span", { "aria-hidden": "true" }, arrow));
      return h("th", { scope: "col", class: one.number ? "number" : null, "aria-sort": direction, title: one.text }, label);
    });
    pads = [h("tr", { class: "pad", "aria-hidden": "true" }, h("td", { colspan: heads.length })), h("tr", { class: "pad", "aria-hidden": "true" }, h("td", { colspan: heads.length }))];
    body = h("tbody", { onclick: onClick }, ...pads);
    drawn.clear();
    const group = h("colgroup", {}, heads.map((one) => h("col", { style: { width: `${one.width}rem` } })));
    fill(table, [group, h("thead", {}, h("tr", { "aria-rowindex": "1" }, cells)), body]);
    table.style.width = `${heads.reduce((sum, one) => sum + one.width, 0)}rem`;
    // Where each column ends: of a wide table only the columns in sight are drawn.
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    let end = 0;
    ends = heads.map((one) => (end += one.width * rem)).slice(-columns().length);
    // The name of a row stays in sight when the table is scrolled sideways.
    table.style.setProperty("--first", `${heads[0].width}rem`);
  }

  const longest = (text) => Math.max(0, ...[...blocks.values()].flat().map((row) => text(row)?.length ?? 0));
  const wide = (column) => Math.min(Math.max(Math.min(column.name.length * 0.5 + 1.9, 9), longest((row) => readable(row.cells[column.place])) * 0.46 + 1.5, 4), 14);
  const named = () => Math.max(store.table.id.length * 0.5 + 1.9, longest((row) => row.row) * 0.52 + 1.4, 4);

  function sortBy(sort, again) {
    const descending = again ? !view.query.descending : sort !== "row" && !columns().some((c) => `column:${c.name}` === sort && !c.number);
    go({ query: { sort, descending } });
  }

  // What is fetched.

  async function fetchBlock(place, wanted) {
    if (waiting.has(place)) return;
    const stop = new AbortController();
    waiting.set(place, stop);
    try {
      const found = await post("/api/rows", { ...view.query, start: place * BLOCK, count: BLOCK }, stop.signal);
      if (wanted !== key) return;
      const isFirst = blocks.size === 0;
      blocks.set(place, found.rows);
      total = found.total;
      if (isFirst) head();
      refresh();
    } catch (error) {
      if (error.name !== "AbortError") say(error.message, true);
    } finally {
      if (waiting.get(place) === stop) waiting.delete(place);
    }
  }

  /** Everything again, because the order changed; what is on the screen stays until the new rows come. */
  async function reload() {
    for (const stop of waiting.values()) stop.abort();
    waiting.clear();
    const wanted = key;
    const seen = [...new Set([first(), last()].map((i) => Math.floor(Math.max(i, 0) / BLOCK)))];
    try {
      const found = await Promise.all(
        seen.map((place) => post("/api/rows", { ...view.query, start: place * BLOCK, count: BLOCK })),
      );
      if (wanted !== key) return;
      const isNew = blocks.size === 0 || sorted !== orderKey();
      total = found[0].total;
      blocks = new Map(found.map((one, i) => [seen[i], one.rows]));
      if (isNew) head();
      sorted = orderKey();
      active = Math.min(active, Math.max(total - 1, 0));
      refresh();
    } catch (error) {
      if (wanted === key) {
        empty.hidden = false;
        fill(empty, error.message);
      }
    }
  }

  const orderKey = () => `${view.query.sort} ${view.query.descending}`;

  // What is drawn.

  const first = () => Math.max(0, Math.floor(scroller.scrollTop / HEIGHT) - SPARE);
  const last = () => Math.max(0, Math.ceil((scroller.scrollTop + scroller.clientHeight) / HEIGHT) + SPARE);

  /** The columns in sight, in steps, so that they rarely change while the table is scrolled. */
  function inSight() {
    if (ends.length <= MANY) return [0, ends.length];
    const [left, right] = [scroller.scrollLeft, scroller.scrollLeft + scroller.clientWidth];
    const [from, to] = [ends.findIndex((end) => end > left), ends.findIndex((end) => end > right)];
    return [Math.max(0, Math.floor(from / 8) * 8 - 8), to < 0 ? ends.length : Math.min(ends.length, Math.ceil(to / 8) * 8 + 8)];
  }

  function refresh() {
    draw(true);
    table.setAttribute("aria-rowcount", String(total + 1));
    empty.hidden = total > 0;
    scroller.hidden = total === 0 && blocks.size > 0;
    if (total === 0) fill(empty, ["No row is meant by this filter. ", clearButton()]);
    bar.counted(total);
  }

  function draw(anew = false) {
    if (!body || !store.now?.ranking) return;
    // Read before anything changes: a table that is shorter for a moment would be scrolled back.
    const [from, to] = [first(), Math.min(last(), total)];
    const columnsNow = inSight();
    anew ||= columnsNow.join() !== span.join();
    span = columnsNow;
    for (const [index, line] of drawn) {
      if (index < from || index >= to) {
        line.remove();
        drawn.delete(index);
      }
    }
    for (let index = from; index < to; index += 1) {
      const block = blocks.get(Math.floor(index / BLOCK));
      if (!block) fetchBlock(Math.floor(index / BLOCK), key);
      const old = drawn.get(index);
      if (!anew && old && (old.dataset.position || !block)) continue;
      const line = block?.[index % BLOCK] ? lineOf(block[index % BLOCK], index) : blank(index);
      if (old) old.replaceWith(line);
      else {
        let next = pads[1];
        for (let i = index + 1; i < to; i += 1) if (drawn.has(i)) { next = drawn.get(i); break; }
        body.insertBefore(line, next);
      }
      drawn.set(index, line);
    }
    pads[0].firstChild.style.height = `${from * HEIGHT}px`;
    pads[1].firstChild.style.height = `${Math.max(0, total - to) * HEIGHT}px`;
    mark();
  }

  const blank = (index) =>
    h("tr", { id: `r${index}`, class: "blank", "aria-rowindex": index + 2 }, h("td", { colspan: columns().length + ownColumns().length }, "…"));

  const unseen = (n) => n > 0 && h("td", { colspan: n, "aria-hidden": "true" });

  function lineOf(row, index) {
    const reasons = new Map(row.reasons.map((reason) => [reason.column, reason]));
    const why = reasonsLine(row);
    const said = (word, key, text) =>
      h(
        "button",
        {
          type: "button",
          tabindex: "-1",
          class: `dot say-${word}`,
          "data-say": key,
          "aria-label": `${text}: row ${row.row}`,
          "aria-pressed": String(row.answer === word),
          title: `${text} (${key})`,
        },
        key,
      );
    const own = {
      place: () => h("td", { class: "number dim" }, count(row.place)),
      row: () => h("th", { scope: "row", title: row.row }, row.row),
      chance: () => h("td", {}, chanceBar(row.chance, row.flagged)),
      ask: () => h("td", { class: "ask" }, row.answer === "unknown" ? h("span", { class: "dim" }, "?") : null, said("yes", "y", "Odd"), said("no", "n", "Fine")),
      kind: () => h("td", {}, row.flagged ? row.kind : ""),
      why: () => h("td", { class: "why", title: why }, why),
    };
    return h(
      "tr",
      { id: `r${index}`, "aria-rowindex": index + 2, "data-index": index, "data-position": row.position, class: row.flagged ? "flagged" : null },
      ownColumns().map((name) => own[name]()),
      unseen(span[0]),
      columns().slice(...span).map((c) => {
        const value = row.cells[c.place];
        const reason = reasons.get(c.name);
        const title = reason?.usual ? `${value ?? "missing"}: ${reason.usual}` : value;
        const shown = readable(value) || h("span", { class: "dim" }, "–");
        return h("td", { class: `${c.number ? "number" : ""}${reason ? " odd" : ""}`, title }, reason ? h("mark", {}, shown) : shown);
      }),
      unseen(ends.length - span[1]),
    );
  }

  function mark() {
    for (const [index, line] of drawn) {
      const position = Number(line.dataset.position);
      line.setAttribute("aria-selected", String(line.dataset.position !== undefined && isOpen(position)));
      line.classList.toggle("active", index === active);
    }
    if (drawn.has(active)) table.setAttribute("aria-activedescendant", `r${active}`);
    else table.removeAttribute("aria-activedescendant");
  }

  // Clicks and keys.

  const rowAt = (index) => blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];

  function onClick(event) {
    const line = event.target.closest("tr[data-index]");
    if (!line) return;
    active = Number(line.dataset.index);
    const row = rowAt(active);
    const key = event.target.closest("[data-say]")?.dataset.say;
    if (key) answer(row.position, key === "y", row.row);
    else openRow(row.position);
    mark();
  }

  function onKey(event) {
    if (event.target !== table) return;
    const page = Math.max(1, Math.floor(scroller.clientHeight / HEIGHT) - 2);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      event.preventDefault();
      active = Math.max(0, Math.min(total - 1, active + moves[event.key]));
      reveal();
      const row = rowAt(active);
      if (view.row !== null && row) openRow(row.position);
    } else if (event.key === "Enter") {
      const row = rowAt(active);
      if (row) openRow(row.position);
    }
  }

  function reveal(middle = false) {
    const top = active * HEIGHT;
    const space = scroller.clientHeight - 2 * HEIGHT;
    if (middle || top < scroller.scrollTop || top > scroller.scrollTop + space) {
      scroller.scrollTop = middle ? top - space / 2 : top < scroller.scrollTop ? top : top - space;
    }
    draw();
  }

  async function jump(text) {
    try {
      const found = await post("/api/find", { ...view.query, row: text });
      if (found.place === null) {
        say(`No row here is called ${text}.`, true);
        return;
      }
      active = found.place;
      reveal(true);
      openRow(found.position);
      table.focus({ preventScroll: true });
    } catch (error) {
      say(error.message, true);
    }
  }

  // The filters.

  function clearButton() {
    return h("button", { type: "button", class: "link", onclick: () => go({ query: { ...PLAIN } }) }, "Show all rows");
  }

  function toolbar() {
    const text = h("input", { type: "search", id: "filter", placeholder: "Filter, such as DE or > 100", "aria-label": "Filter rows by text", oninput: later(250, () => go({ query: { text: text.value } }, true)) });
    const column = h("select", { "aria-label": "Column to filter by", onchange: () => go({ query: { column: column.value || null } }) });
    const kind = h("select", { "aria-label": "Kind of oddity", onchange: () => go({ query: { kind: kind.value || null } }) });
    const shown = ["all", "flagged", "answered"].map((name) =>
      h("button", { type: "button", "aria-pressed": "false", "data-shown": name, onclick: () => go({ query: { shown: name } }) }, name),
    );
    const find = h("input", { type: "search", id: "jump", placeholder: "Go to row…", "aria-label": "Go to the row with this id" });
    const form = h("form", { class: "jump", onsubmit: (event) => { event.preventDefault(); if (find.value.trim()) jump(find.value); } }, find);
    const lasso = h("button", { type: "button", class: "chip", hidden: true, onclick: () => go({ query: { within: null } }) });
    const counted = h("span", { class: "dim counted", role: "status" });
    const element = h("div", { class: "toolbar", role: "search", "aria-label": "Which rows" }, h("div", { class: "segments", role: "group", "aria-label": "Show" }, shown), kind, text, column, lasso, counted, form);
    let kinds = "";
    return {
      element,
      counted: (n) => fill(counted, n === store.table.rows ? null : `${count(n)} of ${plural(store.table.rows, "row")}`),
      update(now) {
        if (!column.options.length) fill(column, [h("option", { value: "" }, "any column"), store.table.columns.map((c) => h("option", { value: c.name }, c.name))]);
        const known = now.ranking.kinds.map((one) => `${one.kind} ${one.count}`).join();
        if (known !== kinds) {
          kinds = known;
          fill(kind, [h("option", { value: "" }, "any kind"), now.ranking.kinds.map((one) => h("option", { value: one.kind }, `${one.kind} (${count(one.count)})`))]);
        }
        if (document.activeElement !== text) text.value = view.query.text;
        column.value = view.query.column ?? "";
        kind.value = view.query.kind ?? "";
        kind.hidden = now.ranking.kinds.length === 0;
        for (const button of shown) button.setAttribute("aria-pressed", String(button.dataset.shown === view.query.shown));
        lasso.hidden = view.query.within === null;
        if (view.query.within) fill(lasso, `${plural(view.query.within.length, "row")} from the map ×`);
      },
    };
  }

  /** What is going on before there is any row to show. */
  function waitingWords(now) {
    if (now.phase === "failed") return "There are no rows to show.";
    const doing = now.progress.doing;
    return [
      h("b", {}, `${doing.charAt(0).toUpperCase()}${doing.slice(1)} …`),
      h("small", {}, "The oddest rows appear in a few seconds, and models are scored while you look. The first run on a machine compiles for some ten seconds."),
    ];
  }

  return {
    element,
    /** The row that a key means, if none is open. */
    current: () => rowAt(active),
    update(now) {
      if (!now.ranking) {
        scroller.hidden = bar.element.hidden = true;
        empty.hidden = false;
        fill(empty, waitingWords(now));
        return;
      }
      scroller.hidden = bar.element.hidden = false;
      slider.update(now);
      bar.update(now);
      const meant = JSON.stringify(view.query);
      const wanted = `${now.rows_version} ${now.found_version} ${now.ranking.threshold} ${meant}`;
      if (wanted !== key) {
        if (key !== null && meant !== asked) scroller.scrollTop = active = 0;
        key = wanted;
        asked = meant;
        reload();
      } else mark();
    },
  };
}
