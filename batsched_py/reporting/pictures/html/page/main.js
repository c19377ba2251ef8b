// Put the page together once its parts are unpacked.

const element = (id) => document.getElementById(id);

function loadPlotly(code) {
  const script = document.createElement("script");
  script.textContent = code;
  document.head.append(script);
  script.remove();
}

function buildGantts(page) {
  for (const run of page.runs) {
    const canvas = element(`gantt-${run.number}`);
    if (!canvas) continue;
    const gantt = new Gantt(page, run, canvas);
    page.gantts.push(gantt);
    new Hands(page, gantt, element("tip"), element("status"));
  }
}

function buildTimeCharts(page) {
  const add = (id, traces, axis, runs) => {
    if (element(id)) page.timeCharts.push(new TimeChart(page, element(id), traces, axis, runs));
  };
  const addLines = (id, seriesOf, scaleOf, spelling, axis, placed) =>
    add(id, lines(page, seriesOf, scaleOf, spelling, placed), axis, panelled(page, seriesOf));
  const queue = queueScale(page);
  const shared = page.runs.some((run) => run.busy.values.some((value) => value > run.hosts));
  addLines("busy", (run) => run.busy, (run) => 1 / Math.max(run.hosts, 1), "%{customdata:.1%}",
    { tickformat: ".0%", title: { text: "busy hosts" }, ...(shared ? {} : { range: [0, 1.03] }) });
  for (const run of page.runs.filter((each) => each.resources.length)) {
    add(`resources-${run.number}`, resourceLines(run), { title: { text: "allocated" }, range: [0, 1.03], tickformat: ".0%" });
  }
  addLines("queue", (run) => run.queue, () => 1, "%{customdata:.4~g} jobs", queue.axis, queue.placed);
  addLines("power", (run) => run.power, () => 1, "%{customdata:.4s}W", { title: { text: "power" }, tickformat: "~s", ticksuffix: "W" });
  for (const run of page.runs.filter((each) => each.machines)) {
    add(`hosts-${run.number}`, stacked(page, run), { title: { text: "hosts" }, range: [0, run.hosts], tickformat: "d" });
  }
}

function drawDistributions(page) {
  const measured = (run) => run.measured((submit) => page.measuresAt(submit), page.bound);
  const drawings = [];
  if (element("waits")) {
    const axis = { tickvals: WAIT_MARKS.map(([time]) => time), ticktext: WAIT_MARKS.map(([, text]) => text), title: { text: "wait" } };
    drawings.push(drawDistribution(page, element("waits"), (run) => measured(run).waits, 1, axis, duration));
  }
  if (element("slowdowns")) {
    const told = (value) => Number(value.toPrecision(4)).toString();
    drawings.push(drawDistribution(page, element("slowdowns"), (run) => measured(run).slowdowns, 1, { title: { text: "bounded slowdown" } }, told));
  }
  return Promise.all(drawings);
}

/** The legend of the colours, for what they tell now. */
function drawLegend(page) {
  const legend = element("colours");
  if (!legend) return;
  const mode = MODES[page.mode], colours = mode.colours(page);
  legend.replaceChildren(...mode.names(page).map((name, i) => legendItem(name, colours[i])));
  if (page.mode !== "job") return;
  const heated = page.gantts.filter((gantt) => gantt.drawn.how === "heat");
  if (heated.length) {
    legend.append(...HEAT_MARKS.map((share) => legendItem(`${100 * share}%`, heatColour(share))));
    legend.append(legendItem(`of the time busy; a cell is ${tickText(heated[0].drawn.step, heated[0].drawn.step)}; zoom in to see jobs`));
  }
  if (heated.length === page.gantts.length && heated.length) return;
  legend.append(legendItem("a job has one colour in all runs; grey: several jobs share a pixel, paler where hosts are idle"));
}

function legendItem(text, colour) {
  const item = document.createElement("li"), swatch = document.createElement("span");
  if (colour) {
    swatch.className = "swatch";
    swatch.style.background = `rgb(${colour.map(Math.round).join()})`;
    item.append(swatch);
  }
  item.append(text);
  return item;
}

/** The life of the chosen job's lease, a line for each fact; none if no run has leases. */
function leaseFacts(page, job) {
  const lives = page.runs.map((run) => {
    const row = run.rowOf[job], lease = run.leases && row >= 0 ? run.leases.of[row] : -1;
    return lease >= 0 ? run.leases.facts(lease, page.names) : null;
  });
  const any = lives.find((life) => life !== null);
  return any ? any.map(([name], i) => [name, (run) => lives[run.number]?.[i][1] ?? ""]) : [];
}

/** Why the chosen job waited, a line for each reason; none if that is not told of any run. */
function waitFacts(page, job, known) {
  if (!page.waits.some((waits) => job in waits)) return [];
  const other = (run, row) => (run.wait(row) > 0 ? "batsched-py explain tells it" : "");
  return [["why it waited", known((run, row) => page.waits[run.number]?.[job] ?? other(run, row))]];
}

/** How long a job would have run without others on its links and hosts. */
function aloneText(run, row) {
  if (!run.lost[row]) return run.lost.length ? "as long" : "";
  const alone = run.finish[row] - run.start[row] - run.lost[row];
  return `${duration(alone)}; other jobs made it ${run.timesAlone(row).toFixed(2)} times as long`;
}

/** Lines of text, one below the other. */
function listed(lines) {
  const list = document.createElement("ul");
  list.append(...lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  }));
  return list;
}

/** What is known about the chosen job, a column for each run. */
function tellChoice(page, job) {
  const place = element("chosen");
  if (!place) return;
  if (job < 0) {
    place.replaceChildren();
    return;
  }
  const first = page.runs[0], known = (told) => (run) => {
    const row = run.rowOf[job];
    if (row >= 0) return told(run, row);
    return run.rejected.has(job) ? "rejected" : "not in this run";
  };
  const facts = [
    ["submitted", known((run, row) => duration(run.submit[row]))],
    ["started", known((run, row) => duration(run.start[row]))],
    ["waited", known((run, row) => duration(run.wait(row)))],
    ...waitFacts(page, job, known),
    ["ran", known((run, row) => duration(run.finish[row] - run.start[row]))],
    ...(page.runs.some((run) => run.lost.length) ? [["alone", known((run, row) => aloneText(run, row))]] : []),
    ["size", known((run, row) => plural(run.size[row], "host"))],
    ["hosts", known((run, row) => (run.drawn ? shorten(run.sets[run.set[row]]) || "none" : "not known"))],
    ["ended as", known((run, row) => page.states[run.state[row]])],
  ];
  facts.push(...leaseFacts(page, job));
  if (page.runs.length > 1) {
    facts.push(["difference", known((run, row) => (run === first ? "" : differenceText(run, first, row, page.tolerance)))]);
  }
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  table.createCaption().textContent = `job ${page.names[job]}`;
  const cell = (row, text, scope) => {
    const made = document.createElement(scope ? "th" : "td");
    if (scope) made.scope = scope;
    if (Array.isArray(text)) made.append(listed(text));
    else made.textContent = text;
    row.append(made);
  };
  cell(head, "", "");
  head.cells[0].setAttribute("aria-hidden", "true");
  page.runs.forEach((run) => cell(head, run.name, "col"));
  for (const [name, told] of facts) {
    const row = body.insertRow();
    cell(row, name, "row");
    page.runs.forEach((run) => cell(row, told(run), ""));
  }
  place.replaceChildren(table);
}

function buildControls(page) {
  const on = (id, event, act) => element(id)?.addEventListener(event, act);
  on("closer", "click", () => page.zoom(0.5));
  on("wider", "click", () => page.zoom(2));
  on("whole", "click", () => page.show(page.full));
  on("rows", "change", (event) => page.useRows(event.target.value));
  on("mode", "change", (event) => page.colourBy(event.target.value));
  on("find", "keydown", (event) => { if (event.key === "Enter") find(page, event.target); });
  for (const button of document.querySelectorAll("button[data-job]")) {
    button.addEventListener("click", () => {
      page.choose(Number(button.dataset.job), true);
      element("over-time").scrollIntoView();
    });
  }
  page.onColours.push((mode) => { element("mode").value = mode; drawLegend(page); });
  page.onChoice.push((job) => tellChoice(page, job));
  let drawn = "";
  page.onWindow.push(() => { // the legend of a heat map goes when jobs come in sight
    const now = page.gantts.map((gantt) => `${gantt.drawn.how} ${gantt.drawn.step}`).join();
    if (now !== drawn) drawLegend(page);
    drawn = now;
  });
  if (element("window")) page.onWindow.push(({ begin, end, low, high }) => {
    const word = page.runs.some((run) => run.showsGpus) ? "rows" : "hosts";
    const hosts = high - low < page.full.high - page.full.low ? `, ${word} ${low} to ${high}` : "";
    element("window").textContent = `${duration(begin)} to ${duration(end)}${hosts}`;
  });
}

function find(page, input) {
  const wanted = input.value.trim();
  const job = [wanted, wanted.startsWith(page.prefix) ? wanted.slice(page.prefix.length) : wanted]
    .map((name) => page.names.indexOf(name)).find((number) => number >= 0) ?? -1;
  input.setAttribute("aria-invalid", String(job < 0));
  element("status").textContent = job < 0 ? `there is no job ${wanted}` : `job ${wanted}`;
  if (job >= 0) page.choose(job, true);
}

function watchScheme(page, restyle) {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const set = (scheme) => { root.dataset.scheme = scheme; restyle(); };
  const printed = () => {
    set("light");
    for (const gantt of page.gantts) gantt.draw(); // now: nothing waits for another frame
    for (const chart of page.timeCharts) chart.update();
  };
  element("scheme").addEventListener("click", () => set(root.dataset.scheme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", () => set(dark.matches ? "dark" : "light"));
  let before;
  window.addEventListener("beforeprint", () => { before = root.dataset.scheme; printed(); });
  window.addEventListener("afterprint", () => set(before));
}

/** Draw again when the content's width changes; of its height, which tables change, no picture depends. */
function watchWidth(page, content) {
  const measure = () => `${content.clientWidth} ${window.devicePixelRatio}`;
  let drawn = measure();
  new ResizeObserver(() => {
    if (measure() === drawn) return; // as when it is observed first
    drawn = measure();
    page.redraw();
  }).observe(content);
}

async function main() {
  const [data, code] = await Promise.all([unpack("data"), unpack("plotly")]);
  loadPlotly(code);
  const page = new Page(JSON.parse(data));
  buildGantts(page);
  buildTimeCharts(page);
  buildControls(page);
  if (element("jobs-table")) page.jobTable = new JobTable(page);
  const restyle = () => { page.restyle(); drawLegend(page); drawDistributions(page); };
  watchScheme(page, restyle);
  watchWidth(page, element("content"));
  for (const gantt of page.gantts) gantt.draw();
  for (const tell of page.onWindow) tell(page.view);
  await Promise.all([...page.timeCharts.map((chart) => chart.update()), drawDistributions(page)]);
  window.report = page;
  document.documentElement.dataset.state = "ready";
}

main().catch((error) => {
  document.documentElement.dataset.state = "failed";
  const problem = element("problem");
  problem.hidden = false;
  problem.textContent = typeof DecompressionStream === "undefined"
    ? "This browser cannot unpack the charts: Chrome or Edge 80, Firefox 113, Safari 16.4 or newer can. The tables are complete."
    : `The charts could not be drawn: ${error.message}. The tables are complete.`;
  console.error(error);
});
