// The elected detector, the election as it happened, how far the families agree, and two models side by side.

import { openRow, say, search as again } from "./act.js";
import { chanceBar, trace } from "./charts.js";
import { fill, h } from "./dom.js";
import { get, post } from "./net.js";
import { store } from "./store.js";
import { count, plural } from "./words.js";

const fixed = (value, digits = 2) => (value === null || value === undefined ? "" : value.toFixed(digits));

const WAYS = [
  ["committee", "the committee", "Of the quick models, the one that ranks the rows most as the committee does."],
  ["elect", "the paper's search", "Few models are scored, similar tasks of the history found, and the best model on them is the pick."],
  ["fixed", "the history alone", "Nothing is scored: the model that did best on average over the history."],
];

export function modelsView() {
  const pick = h("div", { class: "card" });
  const way = h("select", { id: "way", onchange: () => again(store.now.left_out, way.value) }, WAYS.map(([name, text]) => h("option", { value: name }, text)));
  const search = h("div", {});
  const election = h(
    "div",
    { class: "card" },
    h("div", { class: "beside-head" }, h("h2", {}, "The election"), h("label", { for: "way", class: "dim" }, "elect by"), way),
    search,
  );
  const agree = h("div", { class: "card" });
  const one = h("select", { id: "one", "aria-label": "One model", onchange: compare });
  const other = h("select", { id: "other", "aria-label": "Another model", onchange: compare });
  const sides = h("div", { class: "sides", role: "status" });
  const twoModels = h(
    "div",
    { class: "card across" },
    h("h2", {}, "Two models side by side"),
    h("div", { class: "choose" }, one, h("span", { class: "dim" }, "and"), other),
    sides,
  );
  const element = h(
    "section",
    { class: "view models", "aria-label": "Models" },
    h("div", { class: "column" }, pick, agree),
    h("div", { class: "column" }, election),
    twoModels,
  );
  let version = null;

  function showPick(found, now) {
    const chosen = found.selection;
    const id = chosen?.pick ?? now.ranking?.pick ?? found.steps.at(-1)?.pick;
    const rank = chosen?.expected_rank;
    const facts = chosen && [
      ["models scored", count(chosen.evaluated.length)],
      ["seconds", fixed(chosen.seconds, 1)],
      rank && ["expected rank among all models", `${fixed(rank.expected, 0)} (${fixed(rank.low, 0)} to ${fixed(rank.high, 0)})`],
    ];
    fill(pick, [
      h("h2", {}, chosen ? "The detector to keep" : "The pick so far"),
      h("p", { class: "pick" }, id ?? "none yet"),
      chosen && h("p", {}, chosen.why),
      facts && h("dl", { class: "figures" }, facts.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
      chosen && h("p", { class: "dim" }, `It ended because ${chosen.stopped_because}. The rows are ranked by the committee, whichever model is kept.`),
    ]);
  }

  function neighbors(found) {
    const chosen = found.selection;
    const near = chosen?.neighbors.length ? chosen.neighbors : found.neighbors;
    if (!near.length) return null;
    const best = chosen?.candidates[0];
    const known = best?.on_neighbors.length === near.length;
    return [
      h("h3", {}, "Similar tasks of the history"),
      scrolling(
        "Similar tasks",
        ["task", "similarity", ...(known ? ["AP of the pick there"] : [])],
        near.map((n, i) => [n.task, fixed(n.similarity), ...(known ? [fixed(best.on_neighbors[i])] : [])]),
      ),
    ];
  }

  /** The steps after which another model was ahead. */
  function turns(steps) {
    let scored = 0;
    const counted = steps.map((s) => ({ pick: s.pick, scored: (scored += s.evaluated ? 1 : 0) }));
    const changed = counted.filter((s, i) => i === 0 || s.pick !== counted[i - 1].pick);
    return [
      h("h3", {}, "Who was ahead"),
      scrolling(
        "Who was ahead",
        ["after", "pick"],
        changed.map((s) => [s.scored === 0 ? "the history alone" : plural(s.scored, "model"), s.pick]).reverse(),
      ),
    ];
  }

  function showSearch(found, now) {
    const steps = found.steps;
    const isSearch = steps.filter((s) => s.similarity !== null || s.expected_improvement !== null).length > 1;
    way.value = now.strategy;
    fill(search, [
      h("p", { class: "dim" }, WAYS.find(([name]) => name === now.strategy)?.[2]),
      isSearch && steps.length > 1 && trace(steps),
      steps.length > 1 && turns(steps),
      neighbors(found),
      steps.length > 1 &&
        h(
          "details",
          {},
          h("summary", {}, plural(steps.length, "step")),
          scrolling(
            "Steps of the election",
            isSearch ? ["step", "phase", "model", "similarity", "expected improvement", "pick after it"] : ["step", "model", "pick after it"],
            steps.slice(-400).map((s) => {
              const model = s.failure ? `${s.evaluated ?? ""} failed: ${s.failure}` : (s.evaluated ?? "");
              const worth = s.expected_improvement === null ? "" : s.expected_improvement.toPrecision(2);
              return isSearch ? [s.index, s.phase, model, fixed(s.similarity), worth, s.pick] : [s.index, model, s.pick];
            }),
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
              { class: "scroll whole", tabindex: "0", role: "region", "aria-label": "Agreement of the families" },
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
    const families = Map.groupBy(ids, (id) => id.split("(")[0]);
    for (const select of [one, other]) {
      fill(select, [...families].map(([name, members]) => h("optgroup", { label: name }, members.map((id) => h("option", { value: id }, id)))));
    }
    const chosen = ids.includes(found.selection.pick) ? found.selection.pick : ids[0];
    one.value = ids.includes(before[0]) ? before[0] : chosen;
    // The best of another family: the one that was ahead last.
    const family = (id) => id.split("(")[0];
    const ahead = [...found.steps.map((step) => step.pick).reverse(), ...ids].filter((id) => ids.includes(id) && id !== one.value);
    other.value = ids.includes(before[1]) ? before[1] : (ahead.find((id) => family(id) !== family(one.value)) ?? ahead[0]);
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
        showSearch(found, now);
        showAgreement(found);
        showChoices(found);
      } catch (error) {
        say(error.message, true);
      }
    },
  };
}
