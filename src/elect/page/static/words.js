// Numbers and small sentences, written the same everywhere.

const whole = new Intl.NumberFormat("en");

export const count = (n) => whole.format(n);

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** A share as a percentage that never claims certainty. */
export function percent(share) {
  const p = share * 100;
  if (p > 0 && p < 0.1) return "<0.1%";
  if (p > 99 && p < 100) return ">99%";
  return p < 10 && p !== 0 ? `${p.toFixed(1)}%` : `${Math.round(p)}%`;
}

/** A chance, and on which side of one half it is, where rows begin to be flagged. */
export function chanceText(chance) {
  const p = chance * 100;
  if (p === 50 || Math.abs(p - 50) >= 0.5) return percent(chance);
  return `${(p < 50 ? Math.min(p, 49.9) : Math.max(p, 50.1)).toFixed(1)}%`;
}

/** An expected count of something: "about 3 rows", "fewer than 1 row", "hardly any row". */
export function about(n, one) {
  if (n < 0.05) return `hardly any ${one}`;
  if (n < 0.75) return `fewer than 1 ${one}`;
  return `about ${plural(Math.round(n), one)}`;
}

export const SAID = { yes: "odd", no: "fine", unknown: "don't know" };

/** A cell to read: a number with many decimals is rounded, everything else is as it is. */
export function readable(cell) {
  return cell !== null && /^-?\d+\.\d{5,}$/.test(cell) ? String(Number(Number(cell).toPrecision(6))) : cell;
}

/** Reasons as one line, as the command line writes them. */
export const reasonsLine = (row) =>
  row.reasons.map(({ column, value, usual }) => `${column} = ${value}${usual ? ` (${usual})` : ""}`).join("; ");
