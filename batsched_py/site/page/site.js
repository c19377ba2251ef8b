// What the page asks its site, and what it is told; texts come as they are and are shown as text only.

const TOKEN = "batsched-py token";
/** The status of changes that are accepted and not decided. */
const UNDECIDED = 202;

/** An answer that refuses: its status and what is wrong, in one line. */
export class Refused extends Error {
  constructor(status, problems) {
    super(problems.map((one) => (one.path ? `${one.path}: ${one.message}` : one.message)).join("; "));
    this.status = status;
  }
}

export function keepToken(token) { sessionStorage.setItem(TOKEN, token); }

function allHeaders(body, more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return {
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...more,
  };
}

/** Ask for a resource; a body, or a text as it is, makes it a write. */
export async function ask(path, request) { return (await exchange(path, request))[0]; }

/** Ask for a change; whether it is decided already: otherwise it takes effect later, or is ignored if impossible then. */
export async function change(path, request) { return (await exchange(path, request))[1].status !== UNDECIDED; }

/** What is said of a change that is not decided. */
export const LATER = "Accepted, but not decided yet: it is ignored if it is impossible when it is.";

/** Ask for a part of a list; `next` is the address of the next one, null after the last. */
export async function askPart(path, request) {
  const [items, answer] = await exchange(path, request);
  return { items, next: answer.headers.get("Link")?.match(/<([^>]*)>; rel="next"/)?.[1] ?? null };
}

async function exchange(path, { method = "GET", body, text, headers, signal } = {}) {
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const answer = await fetch(path, { method, headers: allHeaders(content, headers), body: content, signal });
  if (answer.status === 204) return [null, answer];
  const value = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, value?.problems ?? [{ path: "", message: `the site answered ${answer.status}` }]);
  return [value, answer];
}

/** The id of the last event: after it a new connection goes on. */
let last = "";

/** Call `tell(event, data)` for each event of the site, until the connection ends. */
export async function follow(tell) {
  const answer = await fetch("/api/events", { headers: allHeaders(undefined, last ? { "Last-Event-ID": last } : {}) });
  if (!answer.ok) throw new Refused(answer.status, [{ path: "", message: `the site answered ${answer.status}` }]);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    left += value.replaceAll("\r\n", "\n");
    const events = left.split("\n\n");
    left = events.pop();
    for (const event of events) {
      const lines = Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/s)));
      if (lines.data) tell(lines.event ?? "message", JSON.parse(lines.data));
      last = lines.id ?? last;
    }
  }
}
