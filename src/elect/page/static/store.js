// What this tab knows. `now` comes from the server and is never changed here; `view` is what the address says.

export const store = { table: null, now: null };

const watchers = new Set();

/** Be told of every new moment, and of every change of the view. */
export function watch(watcher) {
  watchers.add(watcher);
}

export function tell(was = store.now) {
  for (const watcher of watchers) watcher(store.now, was);
}

export const PLAIN = {
  sort: "chance",
  descending: true,
  text: "",
  column: null,
  shown: "all",
  kind: null,
  within: null,
};

export const view = { name: "rows", row: null, query: { ...PLAIN } };

/** Take the view from the address: reloading it, or sending it to another tab, shows the same. */
export function readAddress(names) {
  const [name, rest] = location.hash.slice(1).split("?");
  const given = new URLSearchParams(rest ?? "");
  const row = given.get("row");
  view.name = names.includes(name) ? name : names[0];
  view.row = row !== null && /^\d+$/.test(row) ? Number(row) : null;
  view.query = {
    ...PLAIN,
    sort: given.get("sort") ?? PLAIN.sort,
    descending: given.get("up") === null,
    text: given.get("text") ?? "",
    column: given.get("column"),
    shown: given.get("shown") ?? "all",
    kind: given.get("kind"),
    within: view.query.within,
  };
}

/** Go to a view; what is not said stays as it is. */
export function go({ name = view.name, row = view.row, query = {} }, replace = false) {
  const wanted = { ...view.query, ...query };
  const said = new URLSearchParams();
  if (row !== null) said.set("row", row);
  if (wanted.sort !== PLAIN.sort) said.set("sort", wanted.sort);
  if (!wanted.descending) said.set("up", "1");
  for (const key of ["text", "column", "kind"]) if (wanted[key]) said.set(key, wanted[key]);
  if (wanted.shown !== "all") said.set("shown", wanted.shown);
  view.query = wanted;
  const hash = `#${name}${said.size ? `?${said}` : ""}`;
  if (hash === location.hash) tell();
  else {
    // Told at once: a key that follows a click must not find the view before it.
    history[replace ? "replaceState" : "pushState"](null, "", hash);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
