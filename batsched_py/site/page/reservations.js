// Reservations on the page: the list, and the form to create one.

import { clockText, secondsOf, withClockTimes } from "./chart.js";
import { ask } from "./site.js";
import { button, cell, longCell, nameCell, PagedTable, rowOf } from "./tables.js";

const $ = (id) => document.getElementById(id);
const PATH = "/reservations";
const COLUMNS = ["ID", "Name", "User", "State", "Start", "End", "Machines", "Hosts", "Why", ""];

let table = null, helpers = null;

/** Show the section; `attempt`, `mayChange`, `now` and `changed` are those of the page. */
export function begin(given) {
  helpers = given;
  $("reservations-section").hidden = $("reserve-section").hidden = false;
  table = new PagedTable("reservations", { path: PATH, columns: COLUMNS, row, none: "No reservations.", changed: given.changed });
  $("reserve").addEventListener("submit", create);
  $("reserve").elements.when.addEventListener("change", (event) => {
    $("reserve-after-label").hidden = $("reserve-after-help").hidden = event.target.value !== "later";
  });
}

/** Ask for the page of reservations that is shown, if the section is. */
export async function refresh() { await table?.refresh(); }

function time(seconds) { return seconds === null ? "" : clockText(seconds); }

function row(one) {
  const act = cell("");
  if (one.experiment !== null) {
    const number = one.experiment.split("/").at(-1);
    const made = Object.assign(document.createElement("a"), { href: `#experiment/${number}`, textContent: `experiment ${number}` });
    made.dataset.cancel = `experiment${number}`;
    act.append(made);
  } else if (helpers.mayChange(one.owner)) {
    act.append(button("Delete", `Delete reservation ${one.number}`, `unreserve${one.number}`, () => helpers.attempt(() => ask(one.href, { method: "DELETE" }))));
  }
  const line = rowOf(one.number, nameCell(one.name), nameCell(one.owner), one.state, time(one.start), time(one.end), one.machines, nameCell(one.hosts), longCell(withClockTimes(one.reason)), act);
  line.dataset.reservation = one.number;
  return line;
}

async function create(event) {
  event.preventDefault();
  const given = event.target.elements, told = $("reserved"), after = secondsOf(given.after.value);
  const constraint = given.constraint.value.trim();
  const compute = { name: "Machine", min: Number(given.min.value), ...(constraint ? { constraint } : { locations: ["here"] }) };
  const body = { name: given.name.value, duration: Number(given.duration.value), resources: [{ compute }] };
  try {
    if (given.when.value === "later") {
      if (Number.isNaN(after)) throw new Error("after: must be HH:MM:SS, or seconds");
      body.start = Math.ceil(helpers.now() + after);
    }
    const one = await ask(PATH, { method: "POST", body });
    told.className = "told";
    told.textContent = `Accepted as reservation ${one.number}.`;
    helpers.changed();
  } catch (error) {
    told.className = "told bad";
    told.textContent = error.message;
  }
}
