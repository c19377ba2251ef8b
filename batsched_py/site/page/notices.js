// Notices of operators to all users, above everything else.

import { ask } from "./site.js";
import { button } from "./tables.js";

const $ = (id) => document.getElementById(id);
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
/** The notices on the page, as the site sent them: the same ones are not read out twice. */
let shown = "[]";

/** Ask for the notices, and show them; `remove` is called with the number of one, null if the caller may not. */
export async function showNotices(remove) {
  const notices = await ask("/api/notices"), text = JSON.stringify([notices, remove !== null]);
  if (text === shown) return;
  shown = text;
  $("notices").replaceChildren(...notices.map((one) => banner(one, remove)));
}

function banner(notice, remove) {
  const made = document.createElement("p"), words = document.createElement("span"), about = document.createElement("small");
  words.textContent = notice.text;
  words.dir = "auto";
  about.textContent = ` ${notice.by}, ${DATE.format(new Date(notice.published))}${notice.until === null ? "" : `, until ${DATE.format(new Date(notice.until))}`}`;
  made.append(words, about);
  if (remove !== null) made.append(button("Remove", `Remove notice ${notice.number}`, `notice${notice.number}`, () => remove(notice.number)));
  return made;
}
