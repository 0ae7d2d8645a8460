// From which chance on a row is flagged: a slider that says what it would do before it is let go.

import { setThreshold } from "./act.js";
import { h, later } from "./dom.js";
import { about, count, plural } from "./words.js";

let counter = 0;

export function threshold() {
  const id = `threshold-${(counter += 1)}`;
  const slider = h("input", {
    id,
    type: "range",
    min: "0",
    max: "100",
    step: "1",
    oninput: () => {
      show(Number(slider.value), now?.ranking);
      awaited = Infinity;
      send();
    },
  });
  // What the person has set holds until the server says the same: older news must not move the slider back.
  let awaited = 0;
  const send = later(120, async () => {
    const set = slider.value;
    const done = await setThreshold(Number(set) / 100);
    if (slider.value === set) awaited = done?.version ?? 0;
  });
  const at = h("output", { for: id, class: "at" });
  const means = h("span", { class: "means" });
  const back = h("button", { type: "button", class: "link", onclick: () => setThreshold(null) });
  let now = null;

  function show(percent, ranking) {
    if (!ranking) return;
    const exact = Math.round(ranking.threshold * 100) === percent;
    const flagged = exact ? ranking.flagged.count : ranking.curve.count[percent];
    const wrong = exact ? ranking.flagged.false_alarms : ranking.curve.false_alarms[percent];
    at.textContent = `${percent}%`;
    means.replaceChildren(
      h("b", {}, count(flagged)),
      flagged
        ? ` ${flagged === 1 ? "row" : "rows"} flagged; expect ${about(wrong, "false alarm")}`
        : ` rows flagged; no chance is above ${ranking.curve.count.findLastIndex((n) => n > 0) + 1}%`,
    );
    slider.setAttribute("aria-valuetext", `${percent}%, ${plural(flagged, "row")} flagged`);
  }

  const element = h(
    "div",
    { class: "threshold", hidden: true },
    h("label", { for: id }, "Flag from a chance of"),
    h("span", { class: "slide" }, slider, at),
    means,
    back,
  );
  return {
    element,
    update(moment) {
      now = moment;
      const ranking = moment?.ranking;
      element.hidden = !ranking;
      if (!ranking) return;
      back.hidden = !ranking.is_own;
      back.textContent = `back to ${Math.round(ranking.suggested * 100)}%`;
      const percent = Math.round(ranking.threshold * 100);
      if (moment.version >= awaited) slider.value = String(percent);
      show(Number(slider.value), ranking);
    },
  };
}
