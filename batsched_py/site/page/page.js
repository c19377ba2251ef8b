// The page: asks the site for what has changed, and shows it.

import { Chart, KINDS, clockText, machineOf, sample, secondsOf } from "./chart.js";
import * as experiments from "./experiments.js";
import * as leases from "./leases.js";
import { showNotices } from "./notices.js";
import * as operators from "./operators.js";
import * as reservations from "./reservations.js";
import { Schedule } from "./schedule.js";
import * as timelines from "./timelines.js";
import { Refused, ask, follow, keepToken } from "./site.js";
import * as whatIf from "./what_if.js";

const $ = (id) => document.getElementById(id);
/** Hosts out of service, and waiting leases, that are asked for. */
const MOST = 200, MOST_QUEUED = 50;
/** Milliseconds between two questions for the queue, whose reasons change with all else. */
const QUEUE_PAUSE = 2000;
/** All that can be asked for. */
const ALL = ["leases", "queue", "schedule", "hosts", "caller", "experiments", "reservations", "notices"];
const DATE = /^\d{4}-\d\d-\d\d[T ]/;

const chart = new Chart($("chart"), pick);
/** The clock as it was told last, when that was, and the latest time of the site that was told. */
let clock = { now: 0, pace: 1, paused: true }, told = 0, newest = 0;
/** What is to be asked for, changes that are to be applied after that, and when the queue was asked for. */
const wanted = new Set();
let changes = [], busy = false, queueAsked = -Infinity, queueTimer = null;
const schedule = new Schedule();
/** Who asks, and whether as an operator. */
let me = { user: "", role: "user" };

function pick(block) {
  for (const line of document.querySelectorAll("tr.picked")) line.classList.remove("picked");
  if (!block) { $("picked").textContent = ""; return; }
  const what = KINDS[block.kind]?.[1] ?? block.kind, who = block.number ? `Lease ${block.number}` : machineOf(block) || "A job";
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

/** Ask for lists, or all that is shown; one question at a time, and another one if something has changed meanwhile. */
async function refresh(names = ALL) {
  for (const name of names) wanted.add(name);
  if (busy) return;
  busy = true;
  while (wanted.size || changes.length) {
    try {
      if (wanted.size) await askFor(takeWanted());
      else await apply(changes.shift());
    } catch (error) {
      complain(error); // what has changed meanwhile is asked for all the same: perhaps nothing else will change
    }
  }
  busy = false;
}

function takeWanted() {
  const names = new Set(wanted);
  wanted.clear();
  return names;
}

async function askFor(names) {
  const begin = chart.begin - chart.span, end = chart.begin + 3 * chart.span;
  const asked = (name, question) => (names.has(name) ? question() : null);
  const [queue, blocks, out, caller] = await Promise.all([
    asked("queue", () => ask(`/api/queue?limit=${MOST_QUEUED + 1}`)),
    asked("schedule", () => ask(`/api/schedule?begin=${begin}&end=${end}`)),
    asked("hosts", () => ask(`/api/hosts?out=true&limit=${MOST}`)),
    asked("caller", () => ask("/api/caller")),
  ]);
  if (caller) {
    me = caller;
    showCaller(caller);
    operators.showTo(caller.role);
  }
  if (names.has("notices")) await notices();
  if (out) showOut(out);
  if (names.has("leases")) await leases.refresh();
  if (names.has("experiments")) await experiments.refresh();
  if (names.has("reservations")) await reservations.refresh();
  if (names.has("leases")) await timelines.refreshOwn();
  if (queue) {
    queueAsked = performance.now();
    await leases.showQueue(queue, MOST_QUEUED);
  }
  if (blocks) {
    schedule.read(blocks, begin, end);
    showSchedule();
  }
  document.documentElement.dataset.state = "ready";
}

/** Apply what the site has sent; ask for what it has only named. */
async function apply(change) {
  if (change.schedule.length) {
    schedule.apply(change.schedule);
    showSchedule();
  }
  if (change.leases.length || change.experiments.length || change.deleted.length) wanted.add("caller");
  if (change.hosts) wanted.add("hosts");
  if (change.reservations) wanted.add("reservations");
  if (change.queue || change.leases.length) askForQueue();
  await leases.apply(change.leases);
  await experiments.apply(change.experiments, change.deleted);
  await timelines.refreshOwn();
}

/** Ask for the queue, now or when the pause since the last question is over. */
function askForQueue() {
  const pause = queueAsked + QUEUE_PAUSE - performance.now();
  if (pause <= 0) wanted.add("queue");
  else queueTimer ??= setTimeout(() => { queueTimer = null; refresh(["queue"]); }, pause);
}

/** Show the notices; operators may remove them. */
function notices() {
  return showNotices(me.role === "operator" ? (number) => attempt(() => ask(`/api/notices/${number}`, { method: "DELETE" })) : null);
}

function showSchedule() {
  chart.blocks = schedule.blocks;
  chart.draw();
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
  const shown = chart.begin + chart.span; // the chart moves with the time, out of what was asked for
  if ($("trouble").hidden && schedule.end > schedule.begin && (shown > schedule.end || chart.begin < schedule.begin)) refresh(["schedule"]);
}

async function listen() {
  for (;;) {
    newest = 0; // a site that was started again may be behind
    try {
      await follow((event, news) => {
        showClock(news.clock);
        $("trouble").hidden = true;
        if (event === "change" && news.changes) changes.push(news.changes);
        if (event === "change") refresh(news.changes ? [] : ALL);
        if (event === "notice") notices().catch(complain);
      });
    } catch (error) {
      complain(error);
      if (error instanceof Refused && error.status === 401) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** Whether the caller may cancel or delete what a user has requested. */
function mayChange(user) { return me.role === "operator" || me.user === user; }

let prepared = false;

/** Prepare the sections that this site has. */
function prepare(site) {
  const helpers = { attempt, mayChange, changed: () => refresh(), now: () => chart.now };
  prepared = true;
  leases.begin(helpers);
  operators.begin(helpers);
  whatIf.begin({ leaseBody, seconds: secondsOf });
  for (const part of document.querySelectorAll("#ask [data-term]")) part.hidden ||= !site.lease_terms.includes(part.dataset.term);
  if (site.algorithm === "experiments") experiments.begin(helpers);
  if (site.reservations) reservations.begin(helpers);
  if (site.algorithm === "timelines") timelines.beginOwn(helpers);
}

async function begin() {
  try {
    const site = await ask("/api/site");
    $("token-form").hidden = $("trouble").hidden = true;
    document.title = $("title").textContent = site.platform;
    $("about").textContent = `${site.hosts} hosts, scheduled by ${site.algorithm}`;
    chart.hosts = site.hosts;
    showClock(site.clock);
    if (!prepared) prepare(site);
    listen(); // its first event makes the page ask for all
  } catch (error) {
    complain(error);
    if (error instanceof Refused && error.status === 503) setTimeout(begin, 1000); // it starts
    else document.documentElement.dataset.state = "refused";
  }
}

$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken($("token").value);
  begin();
});
/** The request of the form for leases. */
function leaseBody() {
  const given = $("ask").elements, when = given.when.value, text = given.duration.value.trim();
  const body = {
    nodes: Number(given.nodes.value),
    duration: /^\d+(\.\d+)?$/.test(text) ? Number(text) : text,
    start: when === "later" ? `+${given.after.value.trim()}` : when,
    preemptible: when === "best_effort" && given.preemptible.checked && !given.preemptible.parentElement.hidden,
  };
  const deadline = given.deadline.value.trim(), constraint = given.constraint.value.trim(), capacity = given.capacity.value.trim();
  const image = given.image.value.trim(), size = given.image_size.value;
  if (deadline) body.deadline = DATE.test(deadline) ? deadline : `+${deadline.replace(/^\+/, "")}`;
  if (constraint) body.constraint = constraint;
  if (capacity) body.capacity = capacityOf(capacity);
  if (!image !== !size) throw new Error("image: needs a name and a size");
  if (image) body.software = { image, size: Number(size) };
  return body;
}

/** The capacity of a text: that of each machine, or of one after the other. */
function capacityOf(text) {
  const machines = text.split(";").map((machine) => {
    const resources = {};
    for (const part of machine.split(/\s+/).filter(Boolean)) {
      const [name, number, ...more] = part.split("=");
      if (!name || !/^\d+(\.\d+)?$/.test(number) || more.length) throw new Error(`capacity: must be NAME=NUMBER with blanks between them, not ${part}`);
      if (Object.hasOwn(resources, name)) throw new Error(`capacity: ${name} is there twice`);
      resources[name] = Number(number);
    }
    return resources;
  });
  return machines.length === 1 ? machines[0] : machines;
}
$("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const lease = await ask("/api/leases", { method: "POST", body: leaseBody() });
    $("asked").className = "told";
    $("asked").textContent = `Accepted as lease ${lease.number}.`;
    refresh();
  } catch (error) {
    $("asked").className = "told bad";
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
