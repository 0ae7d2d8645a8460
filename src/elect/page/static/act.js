// What a person can do, from wherever on the page. Every act goes to the server; the page changes when it says so.

import { byId } from "./dom.js";
import { post } from "./net.js";
import { go, store, view } from "./store.js";

let fading = null;

/** Say something for a moment, on the screen and to a screen reader. */
export function say(text, isWrong = false) {
  const toast = byId("said");
  toast.textContent = text;
  toast.classList.toggle("wrong", isWrong);
  toast.classList.add("shown");
  clearTimeout(fading);
  fading = setTimeout(() => toast.classList.remove("shown"), isWrong ? 8000 : 3500);
}

async function attempt(path, body) {
  try {
    return await post(path, body);
  } catch (error) {
    say(error.message, true);
    return null;
  }
}

const WORDS = new Map([
  [true, "odd"],
  [false, "fine"],
  [null, "don't know"],
]);

/** The rows whose answers are on their way. */
export const sent = new Set();

export async function answer(position, said, name) {
  sent.add(position);
  const done = await attempt("/api/answer", { position, answer: said });
  sent.delete(position);
  if (done) say(`Row ${name}: ${WORDS.get(said)}.`);
}

export async function undo() {
  if (!store.now?.answers.length) return;
  const last = store.now.answers.at(-1);
  if (await attempt("/api/undo")) say(`The answer about row ${last.row} was taken back.`);
}

export const setThreshold = (threshold) => attempt("/api/threshold", { threshold });
export const setAim = (aim) => attempt("/api/aim", { aim });
export const stop = () => attempt("/api/stop");
export const search = (left_out, strategy) => attempt("/api/search", { left_out, strategy });
export const end = () => attempt("/api/end");

export const openRow = (position) => go({ row: position });
export const closeRow = () => go({ row: null });
export const isOpen = (position) => view.row === position;
