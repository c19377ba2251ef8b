// Lines over time and distributions, drawn by Plotly.

/** Steps of a line over time: more are averaged, each over so many pixels, for lines that cross can be told apart. */
const STEP_PIXELS = 2.5;
const MOST_POINTS = 800;
/** More runs have a panel each, one below the other: their lines would hide each other. */
const MOST_OVERLAID = 2;
const PANEL_HEIGHT = 110, PANEL_GAP = 10;
/** Longer queues have a logarithmic axis, so that short ones are seen beside them. */
const LONG_QUEUE = 100;

function layout(extra) {
  const axis = {
    gridcolor: styled("grid"), linecolor: styled("line"), zeroline: false, showline: true, mirror: true, ticks: "outside",
    tickcolor: styled("line"), ticklen: 4, automargin: false, fixedrange: true,
  };
  const vertical = Object.keys(extra).filter((name) => name.startsWith("yaxis"));
  return {
    font: { family: styled("font"), size: 12, color: styled("quiet") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: styled("plot"),
    margin: { l: LEFT, r: RIGHT, t: 8, b: BELOW + 4 },
    hovermode: "x unified", hoverlabel: { bgcolor: styled("card"), bordercolor: styled("line"), font: { color: styled("text") } },
    showlegend: false, modebar: { bgcolor: "rgba(0,0,0,0)", color: styled("quiet"), activecolor: styled("text") },
    ...extra,
    xaxis: { ...axis, ...extra.xaxis },
    ...Object.fromEntries(vertical.map((name) =>
      [name, { ...axis, rangemode: "tozero", ...extra[name], title: { standoff: 6, ...extra[name].title } }])),
  };
}

const CONFIGURATION = {
  displaylogo: false, responsive: true, scrollZoom: false,
  displayModeBar: "hover", modeBarButtons: [["toImage"]],
  toImageButtonOptions: { format: "svg", filename: "batsched-py" },
};

function line(run, x, y, more) {
  return {
    type: "scatter", mode: "lines", x, y, name: run.name.replaceAll("<", "&lt;"),
    line: { color: runColour(run.number), width: 1.5, shape: "hv" }, ...more,
  };
}

/** Lines over the window of time that all pictures share. */
class TimeChart {
  /**
   * `traces(begin, end, steps)` are Plotly's, of at most so many steps; `axis` is its vertical axis, and `runs` those
   * that have a panel each; none for one panel.
   */
  constructor(page, element, traces, axis, runs = []) {
    Object.assign(this, { page, element, traces, axis, runs, drawnAs: "" });
    if (runs.length) element.style.height = `${runs.length * (PANEL_HEIGHT + PANEL_GAP) + BELOW + 12}px`;
  }

  /** Draw it, unless it shows this time already, as wide and in these colours: Plotly takes long. */
  update() {
    const { begin, end } = this.page.view, width = this.element.clientWidth - LEFT - RIGHT;
    const as = `${begin} ${end} ${width} ${document.documentElement.dataset.scheme}`;
    if (as === this.drawnAs) return undefined;
    this.drawnAs = as;
    const marks = timeTicks(begin, end, width / 90);
    const xaxis = {
      range: [begin, end], fixedrange: false, hoverformat: "s",
      tickvals: marks.map(({ time }) => time), ticktext: marks.map(({ text }) => text), tickangle: 0,
    };
    const steps = Math.max(100, Math.round(width / STEP_PIXELS));
    const drawn = Plotly.react(this.element, this.traces(begin, end, steps), layout({ ...panels(this.runs, xaxis, this.axis), dragmode: "zoom" }), CONFIGURATION);
    if (!this.listening) {
      this.listening = true;
      this.element.on("plotly_relayout", (change) => this.#follow(change));
    }
    return drawn;
  }

  #follow(change) {
    const begin = change["xaxis.range[0]"], end = change["xaxis.range[1]"];
    this.drawnAs = ""; // Plotly has moved it already, maybe beyond the run
    if (begin !== undefined && end !== undefined) this.page.show({ begin, end });
    else if (change["xaxis.autorange"]) this.page.show({ begin: this.page.full.begin, end: this.page.full.end });
  }
}

/** The axes of panels, the first run's on top, with one scale and a name each; of one panel without any runs. */
function panels(runs, xaxis, axis) {
  if (!runs.length) return { xaxis, yaxis: axis };
  const height = 1 / runs.length, gap = PANEL_GAP / (PANEL_GAP + PANEL_HEIGHT) * height;
  const axes = runs.map((run, i) => {
    const shared = i ? { matches: "y" } : {};
    return [`yaxis${i ? i + 1 : ""}`, { nticks: 4, ...axis, ...shared, domain: [1 - (i + 1) * height + gap, 1 - i * height] }];
  });
  const annotations = runs.map((run, i) => ({
    text: run.name.replaceAll("<", "&lt;"), showarrow: false, xref: "paper", yref: "paper", x: 0, y: 1 - i * height,
    xanchor: "left", yanchor: "top", xshift: 4, font: { color: styled("text") }, bgcolor: styled("plot"), opacity: 0.85,
  }));
  return { xaxis: { ...xaxis, anchor: `y${runs.length}` }, ...Object.fromEntries(axes), annotations, hoversubplots: "axis" };
}

/** The runs that have a panel each in a chart of this series; none if few lines lie over each other. */
function panelled(page, seriesOf) {
  const runs = page.runs.filter((run) => seriesOf(run));
  return runs.length > MOST_OVERLAID ? runs : [];
}

/** One line for each run, over each other or in panels; `placed` says how high a value stands. */
function lines(page, seriesOf, scaleOf, spelling, placed = (value) => value) {
  const apart = panelled(page, seriesOf);
  return (begin, end, most) => page.runs.filter((run) => seriesOf(run)).map((run, i) => {
    const { x, y } = seriesOf(run).steps(begin, end, most), scale = scaleOf(run);
    const text = x.map((time) => duration(time)), customdata = y.map((value) => value * scale);
    const filled = { fill: "tozeroy", fillcolor: `rgba(${channels(runColour(run.number)).join()},0.12)` };
    const looks = { ...(apart.length || !run.number ? filled : {}), ...(apart.length ? { yaxis: `y${i ? i + 1 : ""}` } : {}) };
    return line(run, x, customdata.map(placed), { text, customdata, hovertemplate: `${spelling}  (%{text})`, ...looks });
  });
}

/** Logarithmic above some jobs, linear near none: an empty queue has a place, too. */
function queueHeight(jobs) { return Math.log10(1 + jobs); }

/** The axis of the queue, and how high a number of jobs stands on it. */
function queueScale(page) {
  const longest = Math.max(0, ...page.runs.map((run) => run.queue.values.reduce((most, jobs) => Math.max(most, jobs), 0)));
  if (longest <= LONG_QUEUE) return { axis: { title: { text: "waiting jobs" }, tickformat: "~s" }, placed: (jobs) => jobs };
  const powers = Array.from({ length: Math.ceil(Math.log10(longest)) }, (_, power) => 10 ** power);
  const marks = [0, ...powers.flatMap((power) => [3 * power, 10 * power])].filter((jobs) => jobs <= longest);
  return {
    axis: { title: { text: "jobs (log)" }, tickvals: marks.map(queueHeight), ticktext: marks.map(plainCount) },
    placed: queueHeight,
  };
}

/** The states of a run's hosts, stacked. */
function stacked(page, run) {
  return (begin, end, most) => page.machineStates.map((name, i) => {
    const { x, y } = run.machines[i].steps(begin, end, most);
    return {
      type: "scatter", mode: "lines", x, y, name, stackgroup: "hosts", hovertemplate: "%{y:.4~g}",
      line: { shape: "hv", width: 0, color: styled(`host-${i}`) }, fillcolor: styled(`host-${i}`),
    };
  });
}

/** A line for the allocated share of each resource of a run. */
function resourceLines(run) {
  return (begin, end, most) => run.resources.map((series, i) => {
    const { x, y } = series.steps(begin, end, most), name = run.resourceNames[i];
    return {
      type: "scatter", mode: "lines", x, y, name, text: x.map((time) => duration(time)),
      hovertemplate: "%{y:.1%}  (%{text})", line: { color: runColour(i), dash: runDash(i), width: 1.5, shape: "hv" },
    };
  });
}

/** The share of the values that are at most x, as steps; values below `least` stand at the left edge. */
function cumulative(values, least) {
  const sorted = Float64Array.from(values, (value) => Math.max(value, least)).sort();
  const count = sorted.length, x = [], y = [];
  if (!count) return { x, y };
  if (count <= MOST_POINTS) {
    sorted.forEach((value, i) => {
      if (i + 1 === count || sorted[i + 1] !== value) { x.push(value); y.push((i + 1) / count); }
    });
    if (x[0] > least) { x.unshift(least, x[0]); y.unshift(0, 0); }
    return { x, y };
  }
  const low = Math.log(least), high = Math.log(Math.max(sorted[count - 1], least * 1.01));
  for (let i = 0; i <= MOST_POINTS; i++) {
    const value = i === MOST_POINTS ? sorted[count - 1] : Math.exp(low + (high - low) * i / MOST_POINTS);
    x.push(value);
    y.push(above(sorted, value) / count);
  }
  return { x, y };
}

/** A cumulative distribution of a metric of jobs, on a logarithmic axis, with a line for each run. */
function drawDistribution(page, element, valuesOf, least, axis, told) {
  const traces = page.runs.map((run) => {
    const { x, y } = cumulative(valuesOf(run), least), text = x.map(told);
    return line(run, x, y, { text, line: { color: runColour(run.number), width: 2, shape: "hv", dash: runDash(run.number) },
      hovertemplate: "%{y:.1%} of jobs up to %{text}" });
  });
  const ends = traces.flatMap(({ x }) => (x.length ? [x[x.length - 1]] : []));
  const range = [Math.log10(least), Math.log10(Math.max(least * 10, ...ends) * 1.1)];
  for (const { x, y, text } of traces.filter((trace) => trace.x.length)) {
    x.push(10 ** range[1]); // all jobs, from the largest value on
    y.push(1);
    text.push(text[text.length - 1]);
  }
  const marks = axis.tickvals ? {} : { dtick: range[1] - range[0] < 1.5 ? "D1" : 1 };
  const extra = {
    xaxis: { type: "log", range, ...marks, ...axis }, yaxis: { range: [0, 1.02], tickformat: ".0%", title: { text: "fraction of jobs" } },
    hovermode: "closest", margin: { l: LEFT, r: RIGHT, t: 8, b: 48 },
  };
  return Plotly.react(element, traces, layout(extra), CONFIGURATION);
}

const WAIT_MARKS = [[1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"], [6 * 3600, "6 h"], [86400, "1 d"],
  [7 * 86400, "7 d"], [30 * 86400, "30 d"], [365 * 86400, "1 y"]];
