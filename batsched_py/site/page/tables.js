// Tables of the page: filled anew without losing the focus, some with filters and in pages.

import { askPart } from "./site.js";

const $ = (id) => document.getElementById(id);
/** Rows of a page. */
const PAGE = 50;
/** Parts of a list that are asked for one page: filters may leave little of each. */
const MOST_PARTS = 10;
/** Milliseconds without a key, after which a filter counts. */
const PAUSE = 300;
/** Rows of a table without pages; if there are more, the last one says so. */
const MOST = 200;

/** Fulfilled unless a button of a table is being pressed: if it were replaced meanwhile, nothing would be clicked. */
let released = Promise.resolve();

document.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || event.target.closest("table button, table a") === null) return;
  released = new Promise((resolve) => {
    for (const kind of ["pointerup", "pointercancel", "blur"]) window.addEventListener(kind, () => setTimeout(resolve), { once: true });
  });
});

export function cell(text, name = "td") {
  const made = document.createElement(name);
  made.textContent = text ?? "";
  return made;
}

/** A cell whose text may take several lines. */
export function longCell(text) { return Object.assign(cell(text), { className: "why" }); }

/** A cell whose text may be long, such as a name or a set of hosts. */
export function nameCell(text) { return Object.assign(cell(text), { className: text ? "name" : "" }); }

/** A button in a table; `mark` is unique in the table, and `act` is called when it is pressed. */
export function button(text, label, mark, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
  made.dataset.cancel = mark;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

/** A row of cells; texts become cells. */
export function rowOf(...cells) {
  const line = document.createElement("tr");
  line.append(...cells.map((one) => (one instanceof Node ? one : cell(one))));
  return line;
}

export async function fillTable(table, columns, rows, none) {
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
  if (focused) table.querySelector(`[data-cancel="${CSS.escape(focused)}"]`)?.focus();
}

/** Return the rows of the first items, and one that says so if there are more; `all` names what has all of them. */
export function firstRows(items, row, columns, all, most = MOST) {
  const made = items.slice(0, most).map(row);
  if (items.length > most) {
    const line = document.createElement("tr"), note = cell(`Only ${most} are shown here: ${all} has all.`);
    note.colSpan = columns.length;
    note.className = "quiet";
    line.append(note);
    made.push(line);
  }
  return made;
}

/** A table in pages, with a form of filters; NAME, NAME-filter and NAME-pages are the ids of the elements. */
export class PagedTable {
  /** Addresses of the pages up to the shown one, and of the next one; null if it is the last. */
  #pages = [];
  #next = null;
  #timer = 0;
  /** The items that are shown. */
  #shown = [];

  /**
   * `path` and `headers` are those of the list, `items` returns the items of an answer, `row` makes the row of one;
   * `none` is said if there are none. `changed` is called when another page, or a filter, is wanted. `numberOf` returns
   * the number of an item, `listed` whether it is in the list without a filter; with these, changes can be applied.
   */
  constructor(name, { path, headers, columns, row, none, items = (answer) => answer, changed, numberOf, listed, newest = true }) {
    Object.assign(this, { name, path, headers, columns, row, none, items, changed, numberOf, listed, newest });
    this.filter = $(`${name}-filter`);
    this.#first();
    this.filter.addEventListener("submit", (event) => event.preventDefault());
    for (const kind of ["input", "change"]) this.filter.addEventListener(kind, (event) => this.#filterSoon(kind, event.target));
    const [newer, , older] = $(`${name}-pages`).children;
    newer.addEventListener("click", () => this.#turn(() => this.#pages.pop()));
    older.addEventListener("click", () => this.#turn(() => this.#pages.push(this.#next)));
  }

  /** Use the list at another path, from its first page on. */
  use(path) {
    if (path === this.path) return;
    this.path = path;
    this.filter.reset();
    this.#first();
  }

  /** Ask for the page, and show it. */
  async refresh() {
    const address = this.#pages.at(-1), found = [];
    let next = address;
    for (let part = 0; part < MOST_PARTS && next !== null && found.length < PAGE; part += 1) {
      const answer = await askPart(withLimit(next, PAGE - found.length), { headers: this.headers });
      found.push(...this.items(answer.items));
      next = answer.next;
    }
    if (address !== this.#pages.at(-1)) return; // another page was wanted meanwhile, which will be asked for
    this.#next = next === null ? null : withLimit(next, PAGE);
    this.#shown = found;
    await this.#show();
  }

  /** Apply changed items, and numbers of those that are gone; ask for the page only if it cannot be known otherwise. */
  async apply(changed, gone = []) {
    if (!changed.length && !gone.length) return;
    if (this.#pages.length > 1 || this.#filtered()) return this.refresh();
    const numbers = new Set([...gone, ...changed.map(this.numberOf)]), last = this.#next === null ? 0 : this.numberOf(this.#shown.at(-1));
    const finished = new FormData(this.filter).has("finished");
    const come = changed.filter((item) => this.numberOf(item) >= last && (finished || this.listed(item)));
    const shown = [...this.#shown.filter((item) => !numbers.has(this.numberOf(item))), ...come].sort((one, other) => this.numberOf(other) - this.numberOf(one));
    if (shown.length < PAGE && this.#next !== null) return this.refresh(); // older ones move up
    this.#shown = shown.slice(0, PAGE);
    if (shown.length > PAGE || this.#next !== null) this.#next = withParameter(this.#pages[0], "before", this.numberOf(this.#shown.at(-1)));
    return this.#show();
  }

  async #show() {
    await fillTable($(this.name), this.columns, this.#shown.map(this.row), this.#filtered() ? "Nothing fits the filter." : this.none);
    this.#showPages();
  }

  /** Use the filter: a text when nothing was typed for a while, others at once. */
  #filterSoon(kind, field) {
    const typed = field.type === "search";
    if (typed !== (kind === "input")) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { this.#first(); this.changed(); }, typed ? PAUSE : 0);
  }

  #first() {
    const query = new URLSearchParams({ newest: this.newest, limit: PAGE });
    for (const [name, value] of new FormData(this.filter)) if (value.trim()) query.set(name, value.trim());
    this.#pages = [`${this.path}?${query}`];
    this.#next = null;
  }

  #turn(turn) {
    if (this.#pages.at(-1) === undefined) return;
    turn();
    this.changed();
  }

  #filtered() { return [...new FormData(this.filter)].some(([name, value]) => name !== "finished" && value.trim()); }

  #showPages() {
    const [newer, place, older] = $(`${this.name}-pages`).children, text = `Page ${this.#pages.length}`;
    const focused = document.activeElement;
    newer.disabled = this.#pages.length === 1;
    older.disabled = this.#next === null;
    if (place.textContent !== text) place.textContent = text;
    $(`${this.name}-pages`).hidden = newer.disabled && older.disabled;
    if (focused === newer && newer.disabled) older.focus(); // or the focus would be lost
    if (focused === older && older.disabled) newer.focus();
  }
}

function withLimit(address, limit) { return withParameter(address, "limit", limit); }

function withParameter(address, name, value) {
  const url = new URL(address, location.href);
  url.searchParams.set(name, value);
  return url.pathname + url.search;
}
