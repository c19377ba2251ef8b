// What operators do on the page: publish notices, and take hosts out of service or return them.

import { LATER, ask, change as decide } from "./site.js";

const $ = (id) => document.getElementById(id);
const DATE = /^\d{4}-\d\d-\d\d[T ]/, OFFSET = /(Z|[+-]\d\d:?\d\d)$/;

let helpers = null;

/** Prepare the forms; `changed` is that of the page. */
export function begin(given) {
  helpers = given;
  $("notice").addEventListener("submit", (event) => send(event, $("notice-told"), async ({ text, until }) => {
    const body = { text: text.value.trim() }, end = until.value.trim();
    if (end) body.until = dateOf(end);
    const made = await ask("/api/notices", { method: "POST", body });
    event.target.reset();
    return `Published as notice ${made.number}.`;
  }));
  $("hosts").addEventListener("submit", (event) => send(event, $("hosts-told"), async ({ hosts, reason, change }) => {
    const body = { hosts: hosts.value.trim() };
    if (reason.value.trim() && change.value !== "return") body.reason = reason.value.trim();
    const decided = await decide(`/api/hosts/${change.value}`, { method: "POST", body });
    if (!decided) return LATER;
    return `${{ drain: "Drained", fail: "Unavailable", return: "Returned" }[change.value]}: ${body.hosts}.`;
  }));
  $("close").addEventListener("submit", (event) => send(event, $("close-told"), async () => {
    await ask("/api/close", { method: "POST", body: {} });
    event.target.querySelector("button").disabled = true;
    return "The site accepts no more requests; it ends when all accepted ones are done.";
  }));
}

/** Show the section to operators only. */
export function showTo(role) { $("operators").hidden = role !== "operator"; }

/** A date with the offset of this browser, or another text as it is, with + if it is a time from now. */
function dateOf(text) {
  if (!DATE.test(text)) return `+${text.replace(/^\+/, "")}`;
  const date = new Date(text.replace(" ", "T"));
  return OFFSET.test(text) || Number.isNaN(date.getTime()) ? text : date.toISOString();
}

async function send(event, told, act) {
  event.preventDefault();
  try {
    told.textContent = await act(event.target.elements);
    told.className = "told";
    helpers.changed();
  } catch (error) {
    told.className = "told bad";
    told.textContent = error.message;
  }
}
