// Leases on the page: those in the table, and those in the queue.

import { clockText, withClockTimes } from "./chart.js";
import { LATER, ask, change } from "./site.js";
import { button, cell, firstRows, fillTable, longCell, nameCell, PagedTable, rowOf } from "./tables.js";

const $ = (id) => document.getElementById(id);
const COLUMNS = ["ID", "User", "Type", "State", "Machines", "Duration", "Start", "End", "Hosts", "Why", ""];
const QUEUE_COLUMNS = ["ID", "User", "Machines", "Duration", "State", "Priority", "Planned start", "Why"];
/** States of leases that can be held. */
const WAITING = new Set(["Pending", "Queued", "Scheduled", "Preparing", "Ready", "Suspended-Queued", "Suspended-Scheduled"]);
const HUNDRED_YEARS = 36500 * 86400;

let table = null, helpers = null;

/** Prepare the table; `attempt`, `mayChange` and `changed` are those of the page. */
export function begin(given) {
  helpers = given;
  table = new PagedTable("leases", { path: "/api/leases", columns: COLUMNS, row: leaseRow, none: "No leases.", changed: given.changed, numberOf: (lease) => lease.number, listed: (lease) => !lease.final });
  $("priority").addEventListener("submit", prioritise);
}

/** Ask for the page of leases that is shown. */
export function refresh() { return table.refresh(); }

/** Apply changed leases. */
export function apply(changed) { return table.apply(changed); }

/** Show the first `most` leases of the queue. */
export function showQueue(queue, most) {
  return fillTable($("queue"), QUEUE_COLUMNS, firstRows(queue, queueRow, QUEUE_COLUMNS, "batsched-py queue", most), "The queue is empty.");
}

function span(seconds) { return seconds === undefined ? "" : seconds >= HUNDRED_YEARS ? "unlimited" : clockText(seconds); }
function time(seconds) { return seconds === undefined || seconds === null ? "" : clockText(seconds); }
function stateOf(lease) { return lease.held ? `${lease.state}, held` : lease.state; }

function leaseRow(lease) {
  const act = cell("");
  if (!lease.final && helpers.mayChange(lease.user)) {
    const path = `/api/leases/${lease.number}`;
    if (lease.held) act.append(leaseButton(lease, "Release", "release", () => ask(`${path}/release`, { method: "POST", body: {} })));
    else if (WAITING.has(lease.state)) act.append(leaseButton(lease, "Hold", "hold", () => ask(`${path}/hold`, { method: "POST", body: {} })));
    act.append(leaseButton(lease, "Cancel", "", () => ask(path, { method: "DELETE" })));
    act.className = "acts";
  }
  const line = rowOf(
    lease.number, nameCell(lease.user), lease.type ?? "Job", stateOf(lease), lease.nodes, span(lease.duration),
    time(lease.start ?? lease.requested_start), time(lease.end), nameCell(lease.hosts), longCell(withClockTimes(lease.why)), act,
  );
  line.dataset.lease = lease.number;
  return line;
}

/** A button of a lease's row; `mark` tells those of a row apart. */
function leaseButton(lease, text, mark, act) {
  return button(text, `${text} lease ${lease.number}`, `${mark}${lease.number}`, () => helpers.attempt(act));
}

function queueRow(lease) {
  const about = lease.estimated_start === undefined ? time(lease.planned_start) : `about ${clockText(lease.estimated_start)}`;
  return rowOf(lease.number, nameCell(lease.user), lease.nodes, span(lease.duration), stateOf(lease), priorityCell(lease), about, longCell(withClockTimes(lease.why)));
}

/** The priority of a lease, as a button that takes both into the form if the caller may change it. */
function priorityCell(lease) {
  const priority = lease.priority ?? 0, found = cell("");
  if (lease.type !== "Best-effort") return found;
  if (!helpers.mayChange(lease.user)) return cell(priority);
  found.append(button(priority, `Change the priority of lease ${lease.number}, which is ${priority}`, `priority${lease.number}`, () => {
    const { lease: number, priority: wanted } = $("priority").elements;
    number.value = lease.number;
    wanted.value = priority;
    wanted.select();
  }));
  return found;
}

async function prioritise(event) {
  event.preventDefault();
  const { lease, priority } = event.target.elements, told = $("priority-told");
  try {
    const decided = await change(`/api/leases/${Number(lease.value)}/priority`, { method: "PUT", body: { priority: Number(priority.value) } });
    told.textContent = decided ? `The priority of lease ${lease.value} is ${priority.value}.` : LATER;
    told.className = "told";
    helpers.changed();
  } catch (error) {
    told.className = "told bad";
    told.textContent = error.message;
  }
}
