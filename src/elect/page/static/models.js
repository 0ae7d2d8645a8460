// The elected detector, the election as it happened, how far the families agree, and two models side by side.

import { openRow, say } from "./act.js";
import { chanceBar, trace } from "./charts.js";
import { fill, h } from "./dom.js";
import { get, post } from "./net.js";
import { count, plural } from "./words.js";

const fixed = (value, digits = 2) => (value === null || value === undefined ? "" : value.toFixed(digits));

export function modelsView() {
  const pick = h("div", { class: "card" });
  const search = h("div", { class: "card" });
  const agree = h("div", { class: "card" });
  const one = h("select", { id: "one", "aria-label": "One model", onchange: compare });
  const other = h("select", { id: "other", "aria-label": "Another model", onchange: compare });
  const sides = h("div", { class: "sides", role: "status" });
  const twoModels = h(
    "div",
    { class: "card" },
    h("h2", {}, "Two models side by side"),
    h("div", { class: "choose" }, one, h("span", { class: "dim" }, "and"), other),
    sides,
  );
  const element = h("section", { class: "view models", "aria-label": "Models" }, pick, search, agree, twoModels);
  let version = null;

  function showPick(found, now) {
    const chosen = found.selection;
    const id = chosen?.pick ?? now.ranking?.pick ?? found.steps.at(-1)?.pick;
    const facts = chosen && [
      ["models evaluated", count(chosen.evaluated.length)],
      ["seconds", fixed(chosen.seconds, 1)],
      chosen.expected_rank && ["expected rank", `${fixed(chosen.expected_rank.expected, 0)} (${fixed(chosen.expected_rank.low, 0)} to ${fixed(chosen.expected_rank.high, 0)})`],
    ];
    fill(pick, [
      h("h2", {}, chosen ? "The detector to keep" : "The pick so far"),
      h("p", { class: "pick" }, id ?? "none yet"),
      chosen && h("p", {}, chosen.why),
      facts && h("dl", { class: "figures" }, facts.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
      chosen && h("p", { class: "dim" }, `The search stopped because ${chosen.stopped_because}.`),
      neighbors(found),
    ]);
  }

  function neighbors(found) {
    const chosen = found.selection;
    const near = chosen?.neighbors.length ? chosen.neighbors : found.neighbors;
    if (!near.length) return null;
    const shown = chosen?.candidates.slice(0, 3).filter((c) => c.on_neighbors.length === near.length) ?? [];
    return h(
      "details",
      { open: true },
      h("summary", {}, "Similar tasks of the history"),
      scrolling(
        "Similar tasks",
        ["task", "similarity", ...shown.map((c) => c.id)],
        near.map((n, i) => [n.task, fixed(n.similarity), ...shown.map((c) => fixed(c.on_neighbors[i]))]),
      ),
    );
  }

  function showSearch(found) {
    const steps = found.steps;
    const isSearch = steps.filter((s) => s.similarity !== null || s.expected_improvement !== null).length > 1;
    fill(search, [
      h("h2", {}, "The election"),
      h(
        "p",
        { class: "dim" },
        isSearch
          ? "Each step scores one more model and estimates anew which labelled tasks this table resembles."
          : "Every model was scored, and the pick was made from all of their scores.",
      ),
      isSearch && steps.length > 1 && trace(steps),
      steps.length > 0 &&
        h(
          "details",
          {},
          h("summary", {}, plural(steps.length, "step")),
          scrolling(
            "Steps of the election",
            ["step", "phase", "model", "similarity", "expected improvement", "pick after it"],
            steps.slice(-400).map((s) => [s.index, s.phase, s.failure ? `${s.evaluated ?? ""} failed: ${s.failure}` : (s.evaluated ?? ""), fixed(s.similarity), s.expected_improvement === null ? "" : s.expected_improvement.toPrecision(2), s.pick]),
          ),
        ),
    ]);
  }

  function scrolling(label, heads, rows) {
    return h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      h(
        "table",
        { class: "list tight" },
        h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, i) => (i ? h("td", {}, cell) : h("th", { scope: "row" }, cell)))))),
      ),
    );
  }

  function showAgreement(found) {
    const { families, correlation } = found.agreement ?? { families: [] };
    fill(agree, [
      h("h2", {}, "Do the families agree?"),
      families.length < 2
        ? h("p", { class: "dim" }, found.selection ? "There are not two families to compare." : "Shown when the search has ended.")
        : [
            h("p", { class: "dim" }, "Rank correlation of what two families say about the rows. Where they disagree, look at the rows."),
            h(
              "div",
              { class: "scroll", tabindex: "0", role: "region", "aria-label": "Agreement of the families" },
              h(
                "table",
                { class: "heat" },
                h("thead", {}, h("tr", {}, h("td"), families.map((name) => h("th", { scope: "col" }, name)))),
                h(
                  "tbody",
                  {},
                  families.map((name, i) =>
                    h("tr", {}, h("th", { scope: "row" }, name), correlation[i].map((value) => h("td", { class: heat(value) }, fixed(value)))),
                  ),
                ),
              ),
            ),
          ],
    ]);
  }

  const heat = (value) => (value === null ? "h0" : `h${Math.max(0, Math.min(5, Math.floor(value * 6)))}`);

  function showChoices(found) {
    const ids = found.selection?.evaluated ?? [];
    twoModels.hidden = ids.length < 2;
    if (twoModels.hidden) return;
    const before = [one.value, other.value];
    for (const select of [one, other]) fill(select, ids.map((id) => h("option", { value: id }, id)));
    const chosen = ids.includes(found.selection.pick) ? found.selection.pick : ids[0];
    one.value = ids.includes(before[0]) ? before[0] : chosen;
    const family = (id) => id.split("(")[0];
    other.value = ids.includes(before[1]) ? before[1] : (ids.find((id) => family(id) !== family(one.value)) ?? ids.find((id) => id !== one.value));
    compare();
  }

  async function compare() {
    try {
      const found = await post("/api/compare", { one: one.value, other: other.value });
      const side = (title, group) =>
        h(
          "div",
          {},
          h("h3", {}, title, h("span", { class: "dim" }, ` ${count(group.count)}`)),
          h(
            "ol",
            { class: "short-list" },
            group.rows.map((row) =>
              h("li", {}, h("button", { type: "button", onclick: () => openRow(row.position) }, h("b", {}, row.row), chanceBar(row.chance, row.flagged))),
            ),
          ),
        );
      fill(sides, [
        h("p", { class: "dim" }, `Of the ${plural(found.count, "row")} that each ranks highest:`),
        h("div", { class: "three" }, side("only the first", found.one), side("both", found.both), side("only the second", found.other)),
      ]);
    } catch (error) {
      fill(sides, h("p", { class: "dim" }, error.message));
    }
  }

  return {
    element,
    current: () => null,
    async update(now) {
      const wanted = `${now.phase} ${now.phase === "searching" ? now.progress.done : ""} ${now.found_version} ${now.rows_version} ${now.ranking?.threshold}`;
      if (wanted === version) return;
      version = wanted;
      try {
        const found = await get("/api/models");
        if (wanted !== version) return;
        showPick(found, now);
        showSearch(found);
        showAgreement(found);
        showChoices(found);
      } catch (error) {
        say(error.message, true);
      }
    },
  };
}
