// The table of jobs: one run at a time, sorted by a column, filtered by words.

/** Rows that are shown at first, and that each click adds. */
const JOBS_AT_A_TIME = 50;
const JOB_UNITS = { "": 1, s: 1, min: 60, h: 3600, d: 86400, w: 604800 };
const JOB_TESTS = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b,
};

/** The columns: heading, value by which a row is sorted, and its text. */
function jobColumns(page, run) {
  const columns = [
    { name: "job", value: (row) => run.job[row], text: (row) => page.names[run.job[row]] },
    { name: "submitted", value: (row) => run.submit[row], text: (row) => duration(run.submit[row]) },
    { name: "wait", value: (row) => run.wait(row), text: (row) => duration(run.wait(row)) },
    { name: "run", value: (row) => run.finish[row] - run.start[row], text: (row) => duration(run.finish[row] - run.start[row]) },
    { name: "size", value: (row) => run.size[row], text: (row) => plainCount(run.size[row]) },
    { name: "slowdown", value: (row) => run.slowdown(row, page.bound), text: (row) => run.slowdown(row, page.bound).toFixed(2) },
    { name: "ended", value: (row) => run.state[row], text: (row) => page.states[run.state[row]] },
  ];
  if (run.lost.length) {
    const times = (row) => run.timesAlone(row);
    columns.push({ name: "contention", value: times, text: (row) => times(row).toFixed(2) });
  }
  const user = (row) => (run.user[row] >= 0 ? page.users[run.user[row]] : "");
  if (run.user.length) columns.push({ name: "user", value: user, text: user });
  return columns;
}

/** A function that tells whether a row is wanted; null if a word means nothing. */
function jobFilter(page, run, columns, text) {
  const tests = [];
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const found = /^([a-z]+)(<=|>=|<|>|=)(.+)$/.exec(word);
    const column = found && columns.find(({ name }) => name === found[1]);
    if (!found) {
      tests.push((row) => page.names[run.job[row]].includes(word));
    } else if (column && ["user", "ended"].includes(column.name) && found[2] === "=") {
      tests.push((row) => column.text(row).toLowerCase().startsWith(found[3].toLowerCase()));
    } else {
      const number = /^(\d+(?:\.\d*)?)(s|min|h|d|w|)$/.exec(found[3]);
      if (!column || !number || ["job", "user", "ended"].includes(column.name)) return null;
      const wanted = Number(number[1]) * JOB_UNITS[number[2]];
      tests.push((row) => JOB_TESTS[found[2]](column.value(row), wanted));
    }
  }
  return (row) => tests.every((test) => test(row));
}

class JobTable {
  constructor(page) {
    Object.assign(this, { page, run: page.runs[0], sorted: "wait", ascending: false, shown: JOBS_AT_A_TIME });
    const on = (id, event, act) => document.getElementById(id).addEventListener(event, act);
    on("jobs-run", "change", (event) => { this.run = page.runs[Number(event.target.value)]; this.#again(); });
    on("jobs-filter", "input", () => this.#again());
    on("jobs-more", "click", () => { this.shown += JOBS_AT_A_TIME; this.draw(); });
    this.draw();
  }

  #again() {
    this.shown = JOBS_AT_A_TIME;
    this.draw();
  }

  #sort(name) {
    this.ascending = this.sorted === name ? !this.ascending : ["job", "submitted", "user", "ended"].includes(name);
    this.sorted = name;
    this.#again();
  }

  /** The rows of the jobs that are measured: all, unless a part of the runs is shown. */
  measured() {
    return Array.from({ length: this.run.count }, (_, row) => row).filter((row) => this.page.measures(this.run, row));
  }

  /** The rows that are wanted, in their order; null if the filter means nothing. */
  rows(columns) {
    const { page, run } = this, wanted = jobFilter(page, run, columns, document.getElementById("jobs-filter").value);
    if (!wanted) return null;
    const { value } = columns.find(({ name }) => name === this.sorted) ?? columns[0], way = this.ascending ? 1 : -1;
    const rows = this.measured().filter(wanted);
    const keys = new Map(rows.map((row) => [row, value(row)]));
    const order = (a, b) => (keys.get(a) < keys.get(b) ? -way : keys.get(a) > keys.get(b) ? way : run.job[a] - run.job[b]);
    return rows.sort(order);
  }

  draw() {
    const { page, run } = this, columns = jobColumns(page, run), rows = this.rows(columns);
    document.getElementById("jobs-filter").setAttribute("aria-invalid", String(!rows));
    const more = document.getElementById("jobs-more"), count = document.getElementById("jobs-count");
    if (!rows) {
      count.textContent = "a word means nothing here";
      return;
    }
    const last = Math.min(this.shown, rows.length);
    count.textContent = `${plural(rows.length, "job")} of ${plainCount(this.measured().length)}${last < rows.length ? `, ${last} shown` : ""}`;
    more.hidden = last >= rows.length;
    document.getElementById("jobs-table").replaceChildren(this.#table(columns, rows.slice(0, last)));
  }

  #table(columns, rows) {
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    table.createCaption().textContent = this.run.name;
    for (const { name } of columns) {
      const cell = document.createElement("th"), button = document.createElement("button");
      cell.scope = "col";
      if (name === this.sorted) cell.setAttribute("aria-sort", this.ascending ? "ascending" : "descending");
      Object.assign(button, { type: "button", className: "sort", textContent: name });
      button.addEventListener("click", () => {
        this.#sort(name);
        document.querySelector(`#jobs-table th:nth-child(${columns.findIndex((column) => column.name === name) + 1}) button`).focus();
      });
      cell.append(button);
      head.append(cell);
    }
    for (const row of rows) {
      const line = body.insertRow(), [first, ...others] = columns;
      const cell = document.createElement("th"), button = document.createElement("button");
      cell.scope = "row";
      Object.assign(button, { type: "button", textContent: first.text(row), title: "show it in the Gantt charts" });
      button.dataset.job = String(this.run.job[row]);
      button.addEventListener("click", () => {
        this.page.choose(this.run.job[row], true);
        document.getElementById("over-time").scrollIntoView();
      });
      cell.append(button);
      line.append(cell);
      for (const column of others) line.insertCell().textContent = column.text(row);
    }
    return table;
  }
}
