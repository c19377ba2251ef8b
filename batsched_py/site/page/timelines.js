// Timelines of an experiment: its machines over time, with entries, pauses and breaks, the barrier, and now.

import { clockText } from "./chart.js";
import { ask, askPart } from "./site.js";
import { button, cell, fillTable, firstRows, longCell, nameCell, rowOf } from "./tables.js";

const $ = (id) => document.getElementById(id);
const COLUMNS = ["Machine", "State", "Held by", "", "Next entry", "Reason"];
/** Machines and entries that are drawn; sizes in pixels. */
const MOST = 60, MOST_ENTRIES = 2000, LEFT = 130, WIDTH = 900, ROW = 26, TOP = 22;
/** Times below the picture. */
const TICKS = 5;

/** Show the timelines of an experiment, or hide the section if it has none; with buttons if the caller `may` resume. */
export async function showTimelines(one, { headers, attempt, element, may }) {
  const path = one.links.timelines;
  $("timelines").hidden = !path;
  if (!path) return;
  const [run, found] = await Promise.all([ask(path, { headers }), firstEntries(path, headers)]), { entries: known, more } = found;
  const all = run.vms.slice(0, MOST).map(({ name }) => ({ vm: name, entries: known.get(name) ?? [] }));
  $("timelines-state").textContent = stateOf(run);
  $("timelines-picture").replaceChildren(picture(run, all, element));
  const cut = run.vms.length > MOST || more;
  $("timelines-note").textContent = cut ? `Drawn are the first ${MOST} machines of ${run.vms.length}, and of all entries the first ${MOST_ENTRIES}: batsched-py timeline status VM --experiment ${one.id} has those of one.` : "";
  const row = (vm, place) => {
    const act = cell("");
    if (may && vm.held_by !== null) act.append(button("Resume", `Resume ${vm.name}`, `resume${place}`, () => attempt(() => resume(path, [vm.name], headers))));
    return rowOf(nameCell(vm.name), vm.state, nameCell(vm.held_by), act, nameCell(vm.next_entry), longCell(vm.why));
  };
  await fillTable($("vms"), COLUMNS, firstRows(run.vms, row, COLUMNS, `batsched-py timeline status --experiment ${one.id}`), "No machines.");
  const held = run.vms.filter((vm) => vm.held_by !== null).length, resumeAll = $("resume-all");
  resumeAll.hidden = !may || held < 2;
  resumeAll.onclick = () => attempt(() => resume(path, "all", headers));
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

function resume(path, vms, headers) { return ask(`${path}/resume`, { method: "POST", body: { vms }, headers }); }

function stateOf(run) {
  if (run.failed) return `Failed: ${run.failed}`;
  if (run.start === null) return "The barrier is closed: machines are still being configured.";
  return `Experiment time ${run.since_start < 0 ? "-" : ""}${clockText(Math.abs(run.since_start))}; the barrier opened at ${clockText(run.start)}.`;
}

function picture(run, all, element) {
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
