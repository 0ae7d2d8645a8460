// The page: one header, one view at a time, one open row. Everything shown is made from what the server says.

import { answer, end, say, stop, undo } from "./act.js";
import { answersView } from "./answers.js";
import { columnsView } from "./columns.js";
import { byId, fill, h } from "./dom.js";
import { mapView } from "./map.js";
import { modelsView } from "./models.js";
import { get, listen } from "./net.js";
import { drawer } from "./row.js";
import { rowsView } from "./rows.js";
import { saveView } from "./save.js";
import { go, readAddress, store, tell, view, watch } from "./store.js";
import { count, plural } from "./words.js";

const VIEWS = {
  rows: ["Rows", rowsView],
  map: ["Map", mapView],
  answers: ["Answers", answersView],
  columns: ["Columns", columnsView],
  models: ["Models", modelsView],
  save: ["Save", saveView],
};
const NAMES = Object.keys(VIEWS);
const made = {};
const open = drawer(byId("drawer"));

/** What a search is doing; models are counted, of other work the share is told. */
function searching({ doing, done, total }) {
  if (!done) return doing;
  if (!doing.endsWith("models")) return total ? `${doing}: ${Math.floor((100 * done) / total)}%` : doing;
  return total ? `${count(done)} of ${count(total)} models` : `${plural(done, "model")} scored`;
}

function header(now) {
  const { progress, ranking } = now;
  const isBusy = now.phase === "searching" || now.phase === "finishing";
  const bar = byId("progress");
  bar.hidden = !isBusy;
  if (progress.done && progress.total) {
    bar.max = progress.total;
    bar.value = progress.done;
  } else bar.removeAttribute("value");
  byId("stop").hidden = now.phase !== "searching";
  const words = {
    searching: searching(progress),
    finishing: progress.doing,
    ready: ranking ? `${plural(ranking.flagged.count, "row")} flagged` : "",
    failed: "failed",
    ended: "ended",
  };
  const status = byId("status");
  if (status.textContent !== words[now.phase]) status.textContent = words[now.phase];
  document.body.dataset.phase = now.phase;
  const banner = byId("banner");
  banner.hidden = !now.failure && now.phase !== "ended";
  banner.textContent = now.phase === "ended" ? "The server has ended. Your answers are kept; close this tab." : (now.failure ?? "");
  byId("end").hidden = now.phase === "ended";
}

function show() {
  const now = store.now;
  if (!now || !store.table) return;
  header(now);
  const [, make] = VIEWS[view.name];
  made[view.name] ??= make();
  const { element, update } = made[view.name];
  const main = byId("main");
  if (main.firstChild !== element) main.replaceChildren(element);
  for (const link of byId("tabs").children) {
    if (link.dataset.name === view.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    const answered = link.dataset.name === "answers" && now.answers.length;
    fill(link, [VIEWS[link.dataset.name][0], answered ? h("span", { class: "badge" }, count(now.answers.length)) : null]);
  }
  update(now);
  open.update(now, view.name === "answers" && view.row === now.question?.position ? null : view.row);
  document.body.classList.toggle("with-row", view.row !== null);
}

/** The row that y, n and ? speak of: the open one, else the question, else the one marked in the table. */
function current(now) {
  if (view.row !== null) {
    const row = document.querySelector("#drawer .row-name");
    return { position: view.row, row: row?.textContent ?? String(view.row) };
  }
  if (view.name === "answers") return made.answers?.current() ?? null;
  return now.ranking ? (made[view.name]?.current() ?? null) : null;
}

const SAID = { y: true, n: false, "?": null };

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !store.now) return;
  if (event.target.closest("input:not([type=range],[type=checkbox],[type=radio]), select, textarea")) return;
  const key = event.key.toLowerCase();
  if (key === "escape" && view.row !== null) open.close();
  else if (key === "u") undo();
  else if (key === "/") {
    event.preventDefault();
    go({ name: "rows" });
    requestAnimationFrame(() => byId("filter")?.focus());
  } else if (key in SAID) {
    const row = current(store.now);
    if (row) answer(row.position, SAID[key], row.row);
    else if (view.name !== "answers") say("Open a row first.");
  }
});

byId("stop").addEventListener("click", () => {
  stop();
  say("Stopping with the ranking so far …");
});
byId("end").addEventListener("click", () => {
  if (confirm("End the server? Your answers are kept.")) end();
});

window.addEventListener("hashchange", () => {
  readAddress(NAMES);
  show();
});

watch(show);

fill(
  byId("tabs"),
  NAMES.map((name) =>
    h("a", { href: `#${name}`, "data-name": name, onclick: (event) => { event.preventDefault(); go({ name }); } }, VIEWS[name][0]),
  ),
);

readAddress(NAMES);
listen(
  (now) => {
    const was = store.now;
    store.now = now;
    tell(was);
  },
  (isLost) => {
    if (store.now?.phase === "ended") return;
    document.body.classList.toggle("lost", isLost);
    if (isLost) {
      byId("banner").hidden = false;
      byId("banner").textContent = "The server does not answer. If it was ended, start it again; otherwise wait a moment.";
    }
  },
);

store.table = await get("/api/table");
document.title = `${store.table.name} · elect`;
byId("file").textContent = store.table.name;
byId("size").textContent = `${plural(store.table.rows, "row")}, ${plural(store.table.columns.length, "column")}`;
show();
