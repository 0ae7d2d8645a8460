// Leaving with something: files, and the same in Python.

import { say } from "./act.js";
import { fill, h } from "./dom.js";
import { threshold } from "./threshold.js";

const FILES = [
  ["csv", "CSV", "every row with its chance, kind and reasons"],
  ["parquet", "Parquet", "the same, for large tables"],
  ["report", "HTML report", "one file to send around"],
  ["detector", "Detector", "scores new rows: elect score, or Python"],
];

export function saveView() {
  const slider = threshold();
  const links = FILES.map(([kind, name, means]) =>
    h("a", { class: "file", href: `/download/${kind}`, download: "", "data-kind": kind, onclick: () => say(`Making the ${name} file …`) }, h("b", {}, name), h("small", {}, means)),
  );
  const wait = h("p", { class: "dim" }, "Files can be made when the search has ended: wait for it, or stop it.");
  const code = h("code");
  const copy = h(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(code.textContent);
          say("Copied.");
        } catch {
          say("The browser does not let this page copy: select the text instead.", true);
        }
      },
    },
    "Copy",
  );
  const python = h(
    "div",
    { class: "card" },
    h("div", { class: "beside-head" }, h("h2", {}, "The same in Python"), copy),
    h("pre", { tabindex: "0", role: "region", "aria-label": "Python code" }, code),
  );
  const list = h("ul", { class: "facts" });
  const notes = h("div", { class: "card" }, h("h2", {}, "Worth knowing"), list);
  const element = h(
    "section",
    { class: "view save", "aria-label": "Save" },
    h("div", { class: "card" }, h("h2", {}, "Threshold"), slider.element),
    h("div", { class: "card" }, h("h2", {}, "Files"), wait, h("div", { class: "files" }, links)),
    python,
    notes,
  );
  return {
    element,
    current: () => null,
    update(now) {
      slider.update(now);
      const isReady = now.phase === "ready";
      wait.hidden = isReady;
      for (const link of links) {
        link.toggleAttribute("inert", !isReady);
        link.classList.toggle("off", !isReady);
      }
      python.hidden = !now.python;
      code.textContent = now.python ?? "";
      notes.hidden = !now.notes.length;
      fill(list, now.notes.map((note) => h("li", {}, note)));
    },
  };
}
