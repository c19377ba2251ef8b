// What-ifs on the page: a change that is only played, and the differences that it would make.

import { clockText } from "./chart.js";
import { ask } from "./site.js";
import { fillTable, firstRows, nameCell, rowOf } from "./tables.js";

const $ = (id) => document.getElementById(id);
const COLUMNS = ["ID", "User", "State", "Start", "End", "Changed start", "Changed end", "Difference"];
/** Fields whose texts are members of the change as they are. */
const TEXTS = ["algorithm", "drain_hosts", "fail_hosts", "return_hosts"];

/** Stops the play under way; null if there is none. */
let playing = null;

/** Prepare the form; `leaseBody` returns the request of the form for leases, `seconds` reads a time. */
export function begin({ leaseBody, seconds }) {
  $("what-if").addEventListener("submit", (event) => {
    event.preventDefault();
    if (playing === null) play(() => changeOf(event.target.elements, leaseBody, seconds));
  });
  $("what-if-stop").addEventListener("click", () => playing?.abort());
}

async function play(change) {
  const stop = new AbortController();
  playing = stop;
  note("Playing …");
  $("what-if-stop").hidden = false;
  try {
    await show(await ask("/api/what-if", { method: "POST", body: change(), signal: stop.signal }));
  } catch (error) {
    note(stop.signal.aborted ? "Stopped." : error.message, !stop.signal.aborted);
  }
  playing = null;
  if (document.activeElement === $("what-if-stop")) $("what-if-play").focus(); // or the focus would be lost
  $("what-if-stop").hidden = true;
}

function note(text, bad = false) {
  $("what-if-note").className = bad ? "told bad" : "told";
  $("what-if-note").textContent = text;
}

/** The body of the request; an Error says what is wrong. */
function changeOf(given, leaseBody, seconds) {
  const horizon = seconds(given.horizon.value);
  if (!(horizon > 0)) throw new Error("play ahead: must be HH:MM:SS, or seconds");
  const body = { horizon }, options = {};
  for (const name of TEXTS) if (given[name].value.trim()) body[name] = given[name].value.trim();
  for (const text of given.options.value.split(/\s+/).filter(Boolean)) {
    const [name, ...value] = text.split("=");
    if (!name || !value.length) throw new Error(`options: must be KEY=VALUE, not ${text}`);
    if (name in options) throw new Error(`options: ${name} is there twice`);
    options[name] = value.join("=");
  }
  if (Object.keys(options).length) body.options = options;
  if (given.lease.checked) body.lease = leaseBody();
  return body;
}

async function show(answer) {
  const own = counts(answer.own), mean = answer.mean_difference, lines = [`Played from ${clockText(answer.now)} to ${clockText(answer.until)}. ${own}`];
  if (mean !== null) lines.push(`mean difference ${signed(mean)}`);
  if (answer.others.leases) lines.push(`of others: ${counts(answer.others)}`);
  if (answer.added !== null) lines.push(`the lease more: ${answer.added.outcome}, ${time(answer.added.start)} to ${time(answer.added.end)}${answer.added.why ? `: ${answer.added.why}` : ""}`);
  if (answer.left_off) lines.push(`${answer.left_off} more are not listed`);
  note(`${lines.join("; ")}.`);
  await fillTable($("what-if-leases"), COLUMNS, firstRows(answer.leases, row, COLUMNS, "batsched-py what-if"), "No leases.");
}

function row(one) {
  const outcome = one.difference === null && one.outcome !== one.changed_outcome ? ` ${one.changed_outcome}` : "";
  const line = rowOf(
    one.number, nameCell(one.user), one.state, time(one.start), time(one.end), time(one.changed_start), `${time(one.changed_end)}${outcome}`,
    one.difference === null ? "" : signed(one.difference),
  );
  line.dataset.difference = Math.sign(one.difference ?? 0);
  return line;
}

/** Numbers of leases in words, without those that are 0 in both plays. */
function counts(found) {
  const parts = [`${found.leases} ${found.leases === 1 ? "lease" : "leases"}: ${found.earlier} earlier, ${found.later} later`];
  for (const [name, words] of [["waiting", "not started"], ["failed", "failed"]]) {
    const before = found[name], after = found[`changed_${name}`];
    if (before || after) parts.push(`${words}: ${before}, under the change ${after}`);
  }
  return parts.join("; ");
}

function time(seconds) { return seconds === null ? "–" : clockText(seconds); }
function signed(seconds) { return seconds === 0 ? "0" : `${seconds > 0 ? "+" : "−"}${clockText(Math.abs(seconds))}`; }
