// Experiments on the page: the list, the form to submit one, and a view of one with its dependencies, resources and log.

import { clockText, withClockTimes } from "./chart.js";
import { Refused, ask, askPart } from "./site.js";
import { button, cell, fillTable, firstRows, longCell, nameCell, PagedTable, rowOf } from "./tables.js";
import * as timelines from "./timelines.js";

const $ = (id) => document.getElementById(id);
const PATH = "/managed_experiments";
/** Who asks, unless a proxy names a user: the same as for leases. */
const HEADERS = { "X-Batsched-Py-Operator": "true", Accept: "application/json" };
const COLUMNS = ["ID", "Name", "User", "Status", "Accepted", "Deployed", "Ends", ""];
const RESOURCE_COLUMNS = ["Resource", "Kind", "State", "Location", "Host", "Address", "Needs", "Why"];
const EXAMPLE = {
  name: "first",
  duration: 60,
  resources: [
    { network: { name: "lan", location: "here" } },
    { compute: { name: "Server", locations: ["here"], resources: [{ network: "lan" }] } },
    { compute: { name: "Client", locations: ["here"], min: 2, resources: [{ network: "lan" }], contexts: [{ server: ["Server", "lan"] }] } },
  ],
};
/** Resources that are drawn, and pixels of one. */
const MOST = 80, WIDTH = 150, HEIGHT = 30, GAP = 14;

/** Messages of a log that are shown: the latest ones. */
const MOST_MESSAGES = 500;
/** The address of the view of one. */
const VIEW = /^#experiment\/([1-9]\d{0,15})$/;

let helpers = null, table = null;

/** Show the sections; `attempt`, `mayChange` and `changed` are those of the page. */
export function begin(given) {
  helpers = given;
  $("experiments-section").hidden = $("hand-in-section").hidden = false;
  $("descriptor").value = JSON.stringify(EXAMPLE, null, 1);
  $("hand-in").addEventListener("submit", handIn);
  timelines.begin(given);
  table = new PagedTable("experiments", {
    path: PATH, headers: HEADERS, columns: COLUMNS, row, none: "No experiments.", items: (answer) => answer.items, changed: given.changed,
    numberOf: (one) => Number(one.id), listed: () => true,
  });
  window.addEventListener("hashchange", () => { note(""); given.changed(); });
}

/** The number of the experiment that the address of the page names; null for none. */
function chosen() { return VIEW.exec(location.hash)?.[1] ?? null; }

function note(text) { $("experiments-note").textContent = text; }

/** Ask for what is shown, if the section is. */
export async function refresh() {
  if (table === null) return;
  const asked = chosen();
  if (asked === null) await table.refresh();
  const found = asked === null ? null : await askFor(asked);
  if (chosen() !== asked) return; // another one was chosen meanwhile, which will be asked for
  if (asked !== null && found === null) {
    leave();
    await table.refresh();
  }
  await open(found);
}

/** Apply changed experiments, and numbers of deleted ones. */
export async function apply(changed, deleted) {
  if (table === null) return;
  const asked = Number(chosen());
  if (!asked) await table.apply(changed, deleted);
  else if (deleted.includes(asked) || changed.some((one) => Number(one.id) === asked)) await refresh();
}

/** Return an experiment and its log; null, after a note, if it does not exist or may not be read. */
async function askFor(id) {
  try {
    const log = askPart(`${PATH}/${id}/log?newest=true&limit=${MOST_MESSAGES}`, { headers: HEADERS });
    return await Promise.all([ask(`${PATH}/${id}`, { headers: HEADERS }), log]);
  } catch (error) {
    if (!(error instanceof Refused && [403, 404].includes(error.status))) throw error;
    note(`Experiment ${id}: ${error.message}`);
    return null;
  }
}

/** Show only an experiment, or all but that. */
async function open(found) {
  if (found !== null) await show(...found);
  const opened = $("experiment").hidden && found !== null, closed = !$("experiment").hidden && found === null;
  $("experiment").hidden = found === null;
  document.body.dataset.view = found === null ? "" : "experiment";
  if (opened) scrollTo(0, 0);
  if (opened) $("experiment-title").focus({ preventScroll: true });
  if (closed) $("experiments-title").scrollIntoView();
}

async function show(one, log) {
  $("experiment-title").textContent = `${one.name}: ${one.status}`;
  $("experiment-times").textContent = about(one);
  $("experiment-delete").hidden = !helpers.mayChange(one.owner);
  $("experiment-delete").onclick = () => remove(one.id);
  await fillTable($("resources"), RESOURCE_COLUMNS, firstRows(one.resources, resourceRow, RESOURCE_COLUMNS, `batsched-py experiment status ${one.id}`), "No resources.");
  $("graph").replaceChildren(graph(one.resources));
  $("graph-note").textContent = one.resources.length > MOST ? `The first ${MOST} of ${one.resources.length} resources are drawn.` : "";
  const may = helpers.mayChange(one.owner), over = ["ENDED", "FAILED"].includes(one.status);
  await timelines.show(one.links.timelines, { headers: HEADERS, may, over, command: `batsched-py timeline status VM --experiment ${one.id}` });
  $("log-note").textContent = log.next === null ? "" : `The last ${MOST_MESSAGES} messages: batsched-py experiment log ${one.id} has all.`;
  $("log").replaceChildren(...log.items.reverse().map(message));
}

function time(seconds) { return seconds === null ? "" : clockText(seconds); }

/** Say whose an experiment is, and its times. */
function about(one) {
  const times = [["deployed at", one.deployed], ["its clock started at", one.start], ["ends at", one.ends]];
  const known = times.filter(([, at]) => at !== null).map(([what, at]) => `${what} ${clockText(at)}`);
  return [`Experiment ${one.id} of ${one.owner}, accepted at ${clockText(one.accepted)}`, ...known, ...(one.failure ? [one.failure] : [])].join("; ");
}

/** Delete an experiment, and leave its view. */
function remove(id) {
  return helpers.attempt(async () => {
    await ask(`${PATH}/${id}`, { method: "DELETE", headers: HEADERS });
    if (chosen() === id) leave();
    note(`Experiment ${id} was deleted.`);
  });
}

/** Leave the view of an experiment that is gone, so that going back does not lead to it. */
function leave() { history.replaceState(null, "", location.pathname); }

function row(one) {
  const link = Object.assign(document.createElement("a"), { href: `#experiment/${one.id}`, textContent: one.name || `experiment ${one.id}` });
  const name = nameCell(""), act = cell("");
  link.dataset.cancel = `show${one.id}`;
  name.className = "name";
  name.append(link);
  if (helpers.mayChange(one.owner)) act.append(button("Delete", `Delete experiment ${one.id}`, `delete${one.id}`, () => remove(one.id)));
  const line = rowOf(one.id, name, nameCell(one.owner), one.status, time(one.accepted), time(one.deployed), time(one.ends), act);
  line.dataset.experiment = one.id;
  return line;
}

function resourceRow(one) {
  return rowOf(
    nameCell(one.name), one.kind.replace("_", " "), one.state, nameCell(one.location), nameCell(one.host), nameCell(Object.values(one.addresses).join(" ")),
    nameCell(one.after.join(", ")), longCell(one.reason),
  );
}

function message(one) {
  const item = document.createElement("li");
  item.className = one.level;
  item.textContent = `${clockText(one.time)}  ${withClockTimes(one.text)}`;
  return item;
}

/** Return a picture: each resource right of those that it needs. */
function graph(resources) {
  const shown = resources.slice(0, MOST), depth = new Map(), rows = new Map(), places = new Map();
  for (const one of shown) {
    const column = Math.max(-1, ...one.after.map((name) => depth.get(name) ?? -1)) + 1;
    const place = rows.get(column) ?? 0;
    depth.set(one.name, column);
    rows.set(column, place + 1);
    places.set(one.name, [column * (WIDTH + 3 * GAP) + GAP, place * (HEIGHT + GAP) + GAP]);
  }
  const width = Math.max(0, ...[...places.values()].map(([x]) => x)) + WIDTH + GAP;
  const height = Math.max(0, ...[...places.values()].map(([, y]) => y)) + HEIGHT + GAP;
  const picture = timelines.element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "What each resource needs; the table below says the same" });
  for (const one of shown) {
    const [x, y] = places.get(one.name);
    for (const name of one.after) {
      const from = places.get(name);
      if (from) picture.append(timelines.element("line", { x1: from[0] + WIDTH, y1: from[1] + HEIGHT / 2, x2: x, y2: y + HEIGHT / 2 }));
    }
  }
  for (const one of shown) {
    const [x, y] = places.get(one.name), text = timelines.element("text", { x: x + WIDTH / 2, y: y + HEIGHT / 2 + 5 });
    text.textContent = one.name.length > 18 ? `${one.name.slice(0, 17)}…` : one.name;
    picture.append(timelines.element("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 5, "data-state": one.state }), text);
  }
  return picture;
}

async function handIn(event) {
  event.preventDefault();
  const told = $("handed-in");
  try {
    const text = $("descriptor").value, kind = text.trimStart().startsWith("<") ? "application/xml" : "application/json";
    const one = await ask(PATH, { method: "POST", text, headers: { ...HEADERS, "Content-Type": kind } });
    told.className = "told";
    told.textContent = `Accepted as experiment ${one.id}.`;
    location.hash = `#experiment/${one.id}`;
  } catch (error) {
    told.className = "told bad";
    told.textContent = error.message;
  }
}
