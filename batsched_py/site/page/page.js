// The page: asks the site for what has changed, and shows it.

import { Chart, KINDS, clockText, sample } from "./chart.js";
import * as experiments from "./experiments.js";
import { showNotices } from "./notices.js";
import { Refused, ask, follow, keepToken } from "./site.js";

const $ = (id) => document.getElementById(id);
const LEASE_COLUMNS = ["ID", "User", "Type", "State", "Machines", "Duration", "Start", "End", "Hosts", "Why", ""];
const QUEUE_COLUMNS = ["ID", "User", "Machines", "Duration", "State", "Planned start", "Why"];
/** States of leases that can be held. */
const WAITING = new Set(["Pending", "Queued", "Scheduled", "Preparing", "Ready", "Suspended-Queued", "Suspended-Scheduled"]);
/** Rows of a table; if there are more, the last one says so. */
const MOST = 200;
const DATE = /^\d{4}-\d\d-\d\d[T ]/;
const HUNDRED_YEARS = 36500 * 86400;

const chart = new Chart($("chart"), pick);
/** The clock as it was told last, when that was, and the latest time of the site that was told. */
let clock = { now: 0, pace: 1, paused: true }, told = 0, newest = 0;
let wanted = false, busy = false;
/** Fulfilled unless a button of a table is being pressed: if it were replaced meanwhile, nothing would be clicked. */
let released = Promise.resolve();

function cell(text, name = "td") {
  const made = document.createElement(name);
  made.textContent = text ?? "";
  return made;
}

async function fillTable(table, columns, rows, none) {
  await released;
  const head = document.createElement("thead"), line = document.createElement("tr"), body = document.createElement("tbody");
  for (const column of columns) {
    const made = cell(column, column ? "th" : "td");
    if (column) made.scope = "col";
    line.append(made);
  }
  head.append(line);
  body.append(...rows);
  const focused = table.contains(document.activeElement) ? document.activeElement.dataset.cancel : undefined;
  if (rows.length) table.replaceChildren(head, body);
  else table.replaceChildren(Object.assign(document.createElement("caption"), { textContent: none }));
  if (focused) table.querySelector(`[data-cancel="${focused}"]`)?.focus();
}

function span(seconds) { return seconds >= HUNDRED_YEARS ? "unlimited" : clockText(seconds); }
function time(seconds) { return seconds === undefined || seconds === null ? "" : clockText(seconds); }

/** A reason of the algorithm, whose times are seconds, with times as the table has them. */
function inWords(why) { return why?.replace(/\b(at|until) (\d+(?:\.\d+)?)(?=$|[;, ])/g, (_, word, seconds) => `${word} ${clockText(Number(seconds))}`); }

function leaseRow(lease) {
  const line = document.createElement("tr");
  line.dataset.lease = lease.number;
  const start = lease.start ?? lease.requested_start;
  line.append(
    cell(lease.number), cell(lease.user), cell(lease.type ?? "Job"), cell(lease.held ? `${lease.state}, held` : lease.state), cell(lease.nodes),
    cell(lease.duration === undefined ? "" : span(lease.duration)), cell(time(start)), cell(time(lease.end)), cell(lease.hosts),
  );
  const why = cell(inWords(lease.why));
  why.className = "why";
  const act = cell("");
  if (!lease.final) {
    const path = `/api/leases/${lease.number}`;
    if (lease.held) act.append(leaseButton(lease, "Release", "release", () => ask(`${path}/release`, { method: "POST", body: {} })));
    else if (WAITING.has(lease.state)) act.append(leaseButton(lease, "Hold", "hold", () => ask(`${path}/hold`, { method: "POST", body: {} })));
    act.append(leaseButton(lease, "Cancel", "", () => ask(path, { method: "DELETE" })));
    act.className = "acts";
  }
  line.append(why, act);
  return line;
}

/** A button of a lease's row; `mark` tells those of a row apart. */
function leaseButton(lease, text, mark, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.dataset.cancel = `${mark}${lease.number}`;
  button.setAttribute("aria-label", `${text} lease ${lease.number}`);
  button.addEventListener("click", () => attempt(act));
  return button;
}

function rows(all, row, columns) {
  const made = all.slice(0, MOST).map(row);
  if (all.length > MOST) {
    const line = document.createElement("tr"), told = cell(`Only ${MOST} are shown here: batsched-py lists all.`);
    told.colSpan = columns.length;
    told.className = "quiet";
    line.append(told);
    made.push(line);
  }
  return made;
}

function queueRow(lease) {
  const line = document.createElement("tr");
  line.append(cell(lease.number), cell(lease.user), cell(lease.nodes), cell(lease.duration === undefined ? "" : span(lease.duration)), cell(lease.held ? `${lease.state}, held` : lease.state));
  const about = cell(lease.estimated_start === undefined ? time(lease.planned_start) : `about ${clockText(lease.estimated_start)}`), why = cell(inWords(lease.why));
  why.className = "why";
  line.append(about, why);
  return line;
}

function pick(block) {
  for (const line of document.querySelectorAll("tr.picked")) line.classList.remove("picked");
  if (!block) { $("picked").textContent = ""; return; }
  const what = KINDS[block.kind]?.[1] ?? block.kind, who = block.number ? `Lease ${block.number}` : block.machine ? `Machine ${block.machine}` : "A job";
  const end = block.end === null || block.end === undefined ? "" : ` to ${clockText(block.end)}`;
  $("picked").textContent = `${who} ${what}${block.phase === "planned" ? " (planned)" : ""}: ${clockText(block.start)}${end}, hosts ${block.hosts}`;
  document.querySelector(`tr[data-lease="${block.number}"]`)?.classList.add("picked");
}

/** Do something that the site may refuse; tell it if it does. */
async function attempt(action) {
  try {
    await action();
    $("trouble").hidden = true;
    refresh();
  } catch (error) {
    complain(error);
  }
}

function complain(error) {
  if (error instanceof Refused && error.status === 401) $("token-form").hidden = false;
  $("trouble").textContent = error instanceof Refused ? error.message : "The site cannot be reached.";
  $("trouble").hidden = false;
}

/** Ask for all that is shown; one question at a time, and another one if something has changed meanwhile. */
async function refresh() {
  wanted = true;
  if (busy) return;
  busy = true;
  while (wanted) {
    wanted = false;
    try {
      await askForAll();
    } catch (error) {
      complain(error); // what has changed meanwhile is asked for all the same: perhaps nothing else will change
    }
  }
  busy = false;
}

async function askForAll() {
  const begin = chart.begin - chart.span, end = chart.begin + 3 * chart.span;
  const [leases, queue, blocks, out, caller] = await Promise.all([
    ask(`/api/leases?newest=true&limit=${MOST + 1}&finished=${$("finished").checked}`), ask(`/api/queue?limit=${MOST + 1}`), ask(`/api/schedule?begin=${begin}&end=${end}`),
    ask(`/api/hosts?out=true&limit=${MOST}`), ask("/api/caller"), showNotices(),
  ]);
  showCaller(caller);
  showOut(out);
  await fillTable($("leases"), LEASE_COLUMNS, rows(leases, leaseRow, LEASE_COLUMNS), "No leases.");
  await experiments.refresh();
  await fillTable($("queue"), QUEUE_COLUMNS, rows(queue, queueRow, QUEUE_COLUMNS), "The queue is empty.");
  chart.blocks = blocks;
  chart.draw();
  document.documentElement.dataset.state = "ready";
}

/** Say who asks, and what is used of quotas with a limit. */
function showCaller({ user, group, role, quotas }) {
  const used = quotas.filter((one) => one.limit !== null && one.quota !== "megabytes")
    .map((one) => `${one.quota}${one.of === "group" ? ` of ${group}` : ""} ${one.used} of ${one.limit}`);
  $("caller").textContent = `You are ${user} (${group ? `${role}, group ${group}` : role}): ${used.join(", ")}`;
}

/** Say which hosts are out of service, and why: hosts of one state and reason together. */
function showOut(hosts) {
  const groups = new Map();
  for (const { number, state, by, reason } of hosts) {
    const what = `${state}${by ? ` by ${by}` : ""}${reason ? `: ${reason}` : ""}`;
    const runs = groups.get(what) ?? [], last = runs.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
    groups.set(what, runs);
  }
  const texts = [...groups].map(([what, runs]) => `${runs.map(([low, high]) => (low === high ? low : `${low}-${high}`)).join(" ")} (${what})`);
  $("out").textContent = `Hosts out of service: ${texts.join("; ")}`;
  $("out").hidden = texts.length === 0;
}

function showClock(news) {
  if (news.now < newest) return; // an event that was under way when an answer came
  clock = news;
  newest = news.now;
  told = performance.now();
  $("pause").textContent = clock.paused ? "Resume" : "Pause";
  $("pause").setAttribute("aria-pressed", clock.paused);
  const pace = clock.pace === null ? "max" : String(clock.pace);
  if (![...$("pace").options].some((one) => one.value === pace)) $("pace").append(new Option(`${pace} times`, pace));
  if (document.activeElement !== $("pace")) $("pace").value = pace;
}

function tick() {
  const passed = clock.paused || clock.pace === null ? 0 : ((performance.now() - told) / 1000) * clock.pace;
  chart.now = clock.now + passed;
  $("now").textContent = clockText(chart.now);
  chart.draw();
}

async function listen() {
  for (;;) {
    newest = 0; // a site that was started again may be behind
    try {
      await follow((event, news) => {
        showClock(news.clock);
        $("trouble").hidden = true;
        if (event === "change") refresh();
        if (event === "notice") showNotices().catch(complain);
      });
    } catch (error) {
      complain(error);
      if (error instanceof Refused && error.status === 401) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function begin() {
  try {
    const site = await ask("/api/site");
    $("token-form").hidden = $("trouble").hidden = true;
    document.title = $("title").textContent = site.platform;
    $("about").textContent = `${site.hosts} hosts, scheduled by ${site.algorithm}`;
    chart.hosts = site.hosts;
    showClock(site.clock);
    if (site.algorithm === "experiments") experiments.begin({ attempt, cell, fillTable });
    await refresh();
    listen();
  } catch (error) {
    complain(error);
    if (error instanceof Refused && error.status === 503) setTimeout(begin, 1000); // it starts
    else document.documentElement.dataset.state = "refused";
  }
}

document.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || event.target.closest("table button") === null) return;
  released = new Promise((resolve) => {
    for (const kind of ["pointerup", "pointercancel", "blur"]) window.addEventListener(kind, () => setTimeout(resolve), { once: true });
  });
});
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken($("token").value);
  begin();
});
$("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = event.target.elements, when = given.when.value, text = given.duration.value.trim();
  const body = {
    nodes: Number(given.nodes.value),
    duration: /^\d+(\.\d+)?$/.test(text) ? Number(text) : text,
    start: when === "later" ? `+${given.after.value.trim()}` : when,
    preemptible: when === "best_effort" && given.preemptible.checked,
  };
  const deadline = given.deadline.value.trim(), constraint = given.constraint.value.trim();
  if (deadline) body.deadline = DATE.test(deadline) ? deadline : `+${deadline.replace(/^\+/, "")}`;
  if (constraint) body.constraint = constraint;
  try {
    const lease = await ask("/api/leases", { method: "POST", body });
    $("asked").className = "";
    $("asked").textContent = `Accepted as lease ${lease.number}.`;
    refresh();
  } catch (error) {
    $("asked").className = "bad";
    $("asked").textContent = error.message;
  }
});
$("ask").elements.when.addEventListener("change", (event) => {
  $("after-label").hidden = $("after-help").hidden = event.target.value !== "later";
});
$("pause").addEventListener("click", () => attempt(async () => showClock(await ask("/api/clock", { method: "PUT", body: { paused: !clock.paused } }))));
$("pace").addEventListener("change", (event) => {
  const value = event.target.value;
  attempt(async () => showClock(await ask("/api/clock", { method: "PUT", body: { pace: value === "max" ? value : Number(value) } })));
});
$("finished").addEventListener("change", refresh);
for (const [id, act] of Object.entries({
  earlier: () => chart.move(-0.25), later: () => chart.move(0.25), closer: () => chart.zoom(0.5), wider: () => chart.zoom(2),
})) $(id).addEventListener("click", () => { act(); showFollowing(); refresh(); });
$("follow").addEventListener("click", () => { chart.following = !chart.following; showFollowing(); chart.draw(); });
function showFollowing() { $("follow").setAttribute("aria-pressed", chart.following); }

for (const [kind, text, planned] of [
  ["vm", KINDS.vm[1]], ["suspend", KINDS.suspend[1]], ["resume", KINDS.resume[1]], ["transfer", KINDS.transfer[1]], ["vm", "is planned", true],
]) {
  const item = document.createElement("li"), mark = document.createElement("canvas");
  sample(mark, kind, planned);
  item.append(mark, text);
  $("legend").append(item);
}
$("legend").append(Object.assign(document.createElement("li"), { textContent: "numbers: leases; 3/Server: a machine of experiment 3" }));
setInterval(tick, 250);
begin();
