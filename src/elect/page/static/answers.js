// Questions, one card at a time, and what each answer changed.

import { openRow, sent, setAim, undo } from "./act.js";
import { fill, h } from "./dom.js";
import { get } from "./net.js";
import { rowCard } from "./row.js";
import { store } from "./store.js";
import { count, plural } from "./words.js";

const AIMS = [
  ["learn", "Learn most", "the row whose answer tells most about all others"],
  ["find", "Find outliers", "the likeliest row that nobody was asked about"],
];
const WORDS = new Map([
  [true, "odd"],
  [false, "fine"],
  [null, "don't know"],
]);

export function answersView() {
  const card = h("div", { class: "card question", "aria-live": "polite" });
  const aims = AIMS.map(([aim, text, means]) =>
    h(
      "label",
      { class: "aim" },
      h("input", { type: "radio", name: "aim", value: aim, onchange: () => setAim(aim) }),
      h("span", {}, h("b", {}, text), h("small", {}, means)),
    ),
  );
  const changed = h("div", { class: "card", role: "status" });
  const given = h("div", { class: "card" });
  const element = h(
    "section",
    { class: "view answers-view", "aria-label": "Answers" },
    card,
    h("div", { class: "column" }, h("fieldset", { class: "card" }, h("legend", {}, "Questions should"), aims), changed, given),
  );
  let asked = null;
  let row = null;

  async function show(now) {
    const key = `${now.question?.position} ${now.rows_version} ${now.found_version} ${now.ranking?.threshold}`;
    if (key === asked) return;
    asked = key;
    if (!now.found_version || !now.question) {
      row = null;
      const why =
        now.phase === "failed"
          ? "The search failed, so there is nothing to ask."
          : now.phase === "ready"
            ? "Every row was answered."
            : "Questions come in a moment, with the first rows.";
      fill(card, h("p", { class: "dim" }, why));
      return;
    }
    try {
      const found = await get(`/api/row/${now.question.position}`);
      if (key !== asked) return;
      row = found;
      const again = now.answers.some((given) => given.position === now.question.position);
      const line = again
        ? [h("b", {}, "Once more"), " You said no, but all else speaks for it. Is this row odd after all?"]
        : [h("b", {}, `Question ${count(now.answers.length + 1)}`), " Is this row odd?"];
      fill(card, [
        h("p", { class: "ask-line" }, line),
        ...rowCard(row, { withUndo: true, canUndo: now.answers.length > 0 }),
      ]);
    } catch (error) {
      fill(card, h("p", { class: "dim" }, error.message));
    }
  }

  function showChange(now) {
    const what = now.changed;
    const left = now.ranking?.left;
    if (!what) {
      fill(changed, [
        h("h2", {}, "What your answer changed"),
        h("p", { class: "dim" }, "An answer speaks for similar rows too. After each one, this says what moved."),
      ]);
      return;
    }
    const facts = [
      what.added > 0 && `${plural(what.added, "row")} newly flagged`,
      what.removed > 0 && `${plural(what.removed, "row")} no longer flagged`,
      what.moved > 0 ? `${plural(what.moved, "row")} changed place` : "no row changed place",
      what.kind && `what looks meant: ${what.kind}`,
      what.pick && `the pick is now ${what.pick}`,
      left && `outliers not asked about yet: ${left}`,
      what.note,
    ].filter(Boolean);
    fill(changed, [
      h("h2", {}, "What your answer changed"),
      h("p", {}, what.undone ? "Taken back: row " : "Row ", h("b", {}, what.row), `, ${WORDS.get(what.answer)}.`),
      h("ul", { class: "facts" }, facts.map((fact) => h("li", {}, fact))),
      what.rows.length > 0 &&
        h(
          "table",
          { class: "moved" },
          h("thead", {}, h("tr", {}, ["row", "was", "now"].map((name, i) => h("th", { scope: "col", class: i ? "number" : null }, name)))),
          h(
            "tbody",
            {},
            what.rows.map((one) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => openRow(one.position) }, one.row)),
                h("td", { class: "number dim" }, count(one.was)),
                h("td", { class: `number ${one.now < one.was ? "up" : "down"}` }, `${one.now < one.was ? "↑" : "↓"} ${count(one.now)}`),
              ),
            ),
          ),
        ),
    ]);
  }

  function showGiven(now) {
    const tally = { true: 0, false: 0, null: 0 };
    for (const one of now.answers) tally[String(one.answer)] += 1;
    fill(given, [
      h("h2", {}, now.answers.length ? plural(now.answers.length, "answer") : "No answers yet"),
      h(
        "p",
        { class: "dim" },
        now.answers.length
          ? `${tally.true} odd, ${tally.false} fine, ${tally.null} don't know. Kept beside the table after each one.`
          : "They are kept in a file beside the table, and found again next time.",
      ),
      now.answers.length > 0 &&
        h(
          "ol",
          { class: "given", reversed: true },
          [...now.answers].reverse().slice(0, 50).map((one, i) =>
            h(
              "li",
              {},
              h("button", { type: "button", class: "link", onclick: () => openRow(one.position) }, one.row),
              h("span", { class: one.answer === true ? "yes" : "dim" }, WORDS.get(one.answer)),
              i === 0 && h("button", { type: "button", class: "quiet small", onclick: undo }, "Undo"),
            ),
          ),
        ),
    ]);
  }

  return {
    element,
    /** The row of the question; none between an answer and the next question, for those who type fast. */
    current() {
      const isAnswered = sent.has(row?.position) || store.now.answers.some((one) => one.position === row?.position);
      return isAnswered ? null : row;
    },
    update(now) {
      for (const label of aims) {
        const input = label.querySelector("input");
        input.checked = input.value === now.aim;
      }
      show(now);
      showChange(now);
      showGiven(now);
    },
  };
}
