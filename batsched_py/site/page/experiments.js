// Experiments on the page: the list, one of them with its dependencies, resources and log, and the form to hand one in.

import { clockText } from "./chart.js";
import { Refused, ask } from "./site.js";
import { showTimelines } from "./timelines.js";

const $ = (id) => document.getElementById(id);
const PATH = "/managed_experiments";
/** Who asks, unless a proxy names a user: the same as for leases. */
const HEADERS = { "X-Batsched-Py-Operator": "true", Accept: "application/json" };
const COLUMNS = ["ID", "Name", "Status", "Accepted", "Deployed", "Ends", ""];
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

/** Experiments in the list: the newest ones. */
const MOST_LISTED = 100;

let chosen = null, helpers = null;

/** Show the section; `fillTable`, `cell` and `attempt` are those of the page. */
export function begin(given) {
  helpers = given;
  $("experiments-section").hidden = $("hand-in-section").hidden = false;
  $("descriptor").value = JSON.stringify(EXAMPLE, null, 1);
  $("hand-in").addEventListener("submit", handIn);
}

/** Ask for what is shown, if the section is. */
export async function refresh() {
  if (helpers === null) return;
  const asked = chosen, { items } = await ask(`${PATH}?newest=true&limit=${MOST_LISTED}`, { headers: HEADERS });
  await helpers.fillTable($("experiments"), COLUMNS, items.map(row), "No experiments.");
  const listed = items.some((one) => one.id === asked) || items.length === MOST_LISTED; // or it may be an older one
  const found = asked !== null && listed ? await askFor(asked) : null;
  if (chosen !== asked) return; // another one was chosen meanwhile, which the list may not know: it will be asked for
  if (found === null) chosen = null;
  $("experiment").hidden = found === null;
  if (found !== null) await show(...found);
}

/** Return an experiment and its log; null if it was deleted meanwhile. */
async function askFor(id) {
  try {
    return await Promise.all([ask(`${PATH}/${id}`, { headers: HEADERS }), ask(`${PATH}/${id}/log`, { headers: HEADERS })]);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

async function show(one, log) {
  $("experiment-title").textContent = `${one.name}: ${one.status}`;
  $("experiment-times").textContent = one.failure || (one.start === null ? "" : `its clock started at ${clockText(one.start)}`);
  await helpers.fillTable($("resources"), RESOURCE_COLUMNS, one.resources.map(resourceRow), "No resources.");
  $("graph").replaceChildren(graph(one.resources));
  await showTimelines(one, { headers: HEADERS, ...helpers, button, element });
  $("log").replaceChildren(...log.slice(-500).map(message));
}

function time(seconds) { return seconds === null ? "" : clockText(seconds); }

function row(one) {
  const line = document.createElement("tr"), act = document.createElement("td");
  line.dataset.experiment = one.id;
  if (one.id === chosen) line.classList.add("picked");
  const name = document.createElement("td");
  name.append(button(one.name || `experiment ${one.id}`, `Show experiment ${one.id}`, `show${one.id}`, () => { chosen = one.id; }));
  act.append(button("Delete", `Delete experiment ${one.id}`, `delete${one.id}`, () => ask(`${PATH}/${one.id}`, { method: "DELETE", headers: HEADERS })));
  line.append(helpers.cell(one.id), name, ...[one.status, time(one.accepted), time(one.deployed), time(one.ends)].map((text) => helpers.cell(text)), act);
  return line;
}

function button(text, label, mark, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.dataset.cancel = mark;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", () => helpers.attempt(async () => action()));
  return made;
}

function resourceRow(one) {
  const line = document.createElement("tr");
  const texts = [one.name, one.kind.replace("_", " "), one.state, one.location ?? "", one.host, Object.values(one.addresses).join(" "), one.after.join(", "), one.reason];
  line.append(...texts.map((text) => helpers.cell(text)));
  return line;
}

function message(one) {
  const item = document.createElement("li");
  item.className = one.level;
  item.textContent = `${clockText(one.time)}  ${one.text}`;
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
  const picture = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "What each resource needs; the table below says the same" });
  for (const one of shown) {
    const [x, y] = places.get(one.name);
    for (const name of one.after) {
      const from = places.get(name);
      if (from) picture.append(element("line", { x1: from[0] + WIDTH, y1: from[1] + HEIGHT / 2, x2: x, y2: y + HEIGHT / 2 }));
    }
  }
  for (const one of shown) {
    const [x, y] = places.get(one.name), text = element("text", { x: x + WIDTH / 2, y: y + HEIGHT / 2 + 5 });
    text.textContent = one.name.length > 18 ? `${one.name.slice(0, 17)}…` : one.name;
    picture.append(element("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 5, "data-state": one.state }), text);
  }
  return picture;
}

function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

async function handIn(event) {
  event.preventDefault();
  const told = $("handed-in");
  try {
    const text = $("descriptor").value, kind = text.trimStart().startsWith("<") ? "application/xml" : "application/json";
    const one = await ask(PATH, { method: "POST", text, headers: { ...HEADERS, "Content-Type": kind } });
    chosen = one.id;
    told.className = "";
    told.textContent = `Accepted as experiment ${one.id}.`;
    await helpers.attempt(async () => null);
  } catch (error) {
    told.className = "bad";
    told.textContent = error.message;
  }
}
