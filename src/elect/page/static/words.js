// Numbers and small sentences, written the same everywhere.

const whole = new Intl.NumberFormat("en");

export const count = (n) => whole.format(n);

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** A chance as a percentage that never claims certainty. */
export function percent(chance) {
  const p = chance * 100;
  if (p > 0 && p < 0.1) return "<0.1%";
  if (p > 99 && p < 100) return ">99%";
  return p < 10 && p !== 0 ? `${p.toFixed(1)}%` : `${Math.round(p)}%`;
}

/** An expected count: "about 3", "fewer than 1". */
export function about(n) {
  if (n < 0.05) return "almost none";
  if (n < 1) return "fewer than 1";
  return `about ${n < 10 ? n.toFixed(1).replace(/\.0$/, "") : count(Math.round(n))}`;
}

export const SAID = { yes: "odd", no: "fine", unknown: "don't know" };

/** Reasons as one line. */
export function reasonsLine(row, names) {
  return row.reasons
    .map((reason) => {
      const place = names.indexOf(reason.column);
      const value = row.cells && place >= 0 ? ` ${row.cells[place] || "missing"}` : "";
      return `${reason.column}${value}${reason.usual ? ` (${reason.usual})` : ""}`;
    })
    .join("; ");
}
