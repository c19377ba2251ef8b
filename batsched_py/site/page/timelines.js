// Timelines of an experiment: its machines over time, with entries, pauses and breaks, the barrier, and now.

import { clockText } from "./chart.js";
import { LATER, ask, askPart } from "./site.js";
import { button, cell, longCell, nameCell, PagedTable, rowOf } from "./tables.js";

const $ = (id) => document.getElementById(id);
const COLUMNS = ["Machine", "State", "Held by", "", "Next entry", "Reason"];
/** Machines and entries that are drawn; sizes in pixels. */
const MOST = 60, MOST_ENTRIES = 2000, LEFT = 130, WIDTH = 900, ROW = 26, TOP = 22;
/** Machines that need no filter. */
const FEW = 10;
/** The timelines of a site that has only these. */
const OWN = "/api/timelines";
/** Times below the picture. */
const TICKS = 5;

let helpers = null, table = null, shown = null;

/** Prepare the section; `attempt` and `changed` are those of the page. */
export function begin(given) {
  helpers = given;
  table = new PagedTable("vms", { columns: COLUMNS, row, none: "No machines.", items: (answer) => answer.vms, changed: given.changed, newest: false });
  $("resume-all").addEventListener("click", () => helpers.attempt(() => resume("all")));
  $("entry").addEventListener("submit", add);
}

/** Prepare the view of the timelines of a site that has only these. */
export function beginOwn(given) {
  begin(given);
  $("own-timelines").hidden = false;
  $("dependencies").hidden = $("log-section").hidden = true;
  $("experiment-title").textContent = "Timelines of the site";
  window.addEventListener("hashchange", given.changed);
}

/** Show the timelines of such a site if the address of the page names them. */
export async function refreshOwn() {
  if (table === null || $("own-timelines").hidden) return;
  const asked = location.hash === $("own-timelines").hash, opened = asked && $("experiment").hidden;
  if (asked) await show(OWN, { headers: {}, may: helpers.mayChange(null), over: false, command: "batsched-py timeline status VM" });
  $("experiment").hidden = !asked;
  document.body.dataset.view = asked ? "experiment" : "";
  if (opened) $("experiment-title").focus();
}

/** Show the timelines at a path, or hide the section if there is none; with buttons and a form if the caller `may` and it is not `over`. */
export async function show(path, { headers, may, over, command }) {
  $("timelines").hidden = !path;
  if (!path) return;
  shown = { path, headers, may: may && !over };
  table.headers = headers;
  table.use(path);
  const [run, found] = await Promise.all([ask(`${path}?limit=${MOST}`, { headers }), firstEntries(path, headers)]), { entries: known, more } = found;
  const all = run.vms.map(({ name }) => ({ vm: name, entries: known.get(name) ?? [] }));
  $("timelines-state").textContent = stateOf(run, over);
  $("timelines-picture").replaceChildren(...(run.launched === null ? [] : [picture(run, all)]));
  const cut = run.vm_count > MOST || more;
  $("timelines-note").textContent = cut ? `Drawn are the first ${MOST} machines of ${run.vm_count}, and of all entries the first ${MOST_ENTRIES}: ${command} has those of one.` : "";
  $("vms-filter").hidden = run.vm_count <= FEW;
  $("vm-names").replaceChildren(...run.vms.map(({ name }) => new Option(name)));
  $("resume-all").hidden = !shown.may || run.held < 2;
  $("entry").hidden = !shown.may;
  await table.refresh();
}

function row(vm) {
  const act = cell("");
  if (shown.may && vm.held_by !== null) act.append(button("Resume", `Resume ${vm.name}`, `resume${vm.name}`, () => helpers.attempt(() => resume([vm.name]))));
  return rowOf(nameCell(vm.name), vm.state, nameCell(vm.held_by), act, nameCell(vm.next_entry), longCell(vm.why));
}

/** Ask for the first entries: by the names of their machines, and whether there are more. */
async function firstEntries(path, headers) {
  const entries = new Map();
  let count = 0, next = `${path}/entries`;
  while (next !== null && count < MOST_ENTRIES) {
    const answer = await askPart(next, { headers });
    for (const { vm, entries: some } of answer.items) {
      entries.set(vm, [...(entries.get(vm) ?? []), ...some]);
      count += some.length;
    }
    next = answer.next;
  }
  return { entries, more: next !== null };
}

function resume(vms) { return ask(`${shown.path}/resume`, { method: "POST", body: { vms }, headers: shown.headers }); }

/** Add an entry, whose text is sent as it is. */
async function add(event) {
  event.preventDefault();
  const { vm, entry } = event.target.elements, told = $("entry-told");
  try {
    const { decided, time } = await ask(`${shown.path}/${encodeURIComponent(vm.value)}/entries`, { method: "POST", text: entry.value, headers: shown.headers });
    told.textContent = decided ? `Added at ${clockText(time)}.` : LATER;
    told.className = "told";
    entry.value = "";
    helpers.changed();
  } catch (error) {
    told.className = "told bad";
    told.textContent = error.message;
  }
}

function stateOf(run, over) {
  if (run.failed) return `Failed: ${run.failed}`;
  if (run.launched === null) return over ? "The timelines did not begin." : "The timelines have not begun.";
  if (run.start === null) return over ? "The barrier did not open." : "The barrier is closed: machines are still being configured.";
  return `Experiment time ${run.since_start < 0 ? "-" : ""}${clockText(Math.abs(run.since_start))}; the barrier opened at ${clockText(run.start)}.`;
}

function picture(run, all) {
  const first = run.launched ?? run.now;
  const spans = all.flatMap(({ entries }) => entries.filter((entry) => entry.begin !== null));
  const comes = all.flatMap(({ entries }) => entries.filter((entry) => planned(run, entry) !== null));
  const last = Math.max(run.now, run.start ?? 0, ...spans.map((entry) => entry.end ?? run.now), ...comes.map((entry) => planned(run, entry)));
  const scale = (WIDTH - LEFT - 12) / Math.max(last - first, 1), x = (time) => LEFT + (time - first) * scale;
  const bottom = TOP + all.length * ROW + 8, height = bottom + 18;
  const made = element("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": "Entries of each machine over time; the table below has their states" });
  let drawn = 0;
  all.forEach(({ vm, entries }, place) => {
    const y = TOP + place * ROW, name = element("text", { x: 0, y: y + 17 });
    name.textContent = vm.length > 16 ? `${vm.slice(0, 15)}…` : vm;
    made.append(name, element("line", { x1: LEFT, y1: y + 13, x2: WIDTH - 12, y2: y + 13, class: "axis" }));
    for (const entry of entries) {
      const begin = entry.begin ?? planned(run, entry);
      if (begin === null || (drawn += 1) > MOST_ENTRIES) continue;
      const end = entry.begin === null ? begin : entry.end ?? run.now;
      const bar = element("rect", { x: x(begin), y: y + 4, width: Math.max((end - begin) * scale, 3), height: 18, rx: 2, "data-kind": entry.kind, "data-outcome": entry.outcome });
      const title = element("title", {});
      title.textContent = `${entry.name ?? entry.kind}: ${entry.outcome}${entry.exit === null ? "" : `, exit code ${entry.exit}`}${entry.why ? `, ${entry.why}` : ""}`;
      bar.append(title);
      made.append(bar);
    }
  });
  for (const [time, mark, text] of [[run.start, "barrier", "barrier"], [run.now, "now", "now"]]) {
    if (time === null) continue;
    const [beside, anchor] = mark === "now" ? [3, "start"] : [-3, "end"]; // they may be close to each other
    const label = element("text", { x: x(time) + beside, y: 13, class: mark, "text-anchor": anchor });
    label.textContent = text;
    made.append(element("line", { x1: x(time), y1: 4, x2: x(time), y2: bottom, class: mark }), label);
  }
  for (let tick = 0; tick < TICKS; tick += 1) {
    const time = first + ((last - first) * tick) / (TICKS - 1), anchor = ["start", "middle", "end"][Math.sign(tick) + (tick === TICKS - 1)];
    const label = element("text", { x: x(time), y: height - 4, class: "time", "text-anchor": anchor });
    label.textContent = clockText(time);
    made.append(label);
  }
  return made;
}

/** The simulated second of an entry that has not begun; null if it is not decided. */
function planned(run, entry) {
  if (entry.begin !== null || run.start === null || entry.outcome !== "pending" || entry.scheduled === null) return null;
  return Math.max(run.start + (entry.time ?? entry.scheduled), run.now);
}

/** A part of a picture. */
export function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
