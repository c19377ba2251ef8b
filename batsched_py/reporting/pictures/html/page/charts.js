// Lines over time and distributions, drawn by Plotly.

/** Steps of a line over time: more are averaged, each over so many pixels, for lines that cross can be told apart. */
const STEP_PIXELS = 2.5;
const MOST_POINTS = 800;

function layout(extra) {
  const axis = {
    gridcolor: styled("grid"), linecolor: styled("line"), zeroline: false, showline: true, mirror: true, ticks: "outside",
    tickcolor: styled("line"), ticklen: 4, automargin: false, fixedrange: true,
  };
  return {
    font: { family: styled("font"), size: 12, color: styled("quiet") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: styled("plot"),
    margin: { l: LEFT, r: RIGHT, t: 8, b: BELOW + 4 },
    hovermode: "x unified", hoverlabel: { bgcolor: styled("card"), bordercolor: styled("line"), font: { color: styled("text") } },
    showlegend: false, modebar: { bgcolor: "rgba(0,0,0,0)", color: styled("quiet"), activecolor: styled("text") },
    ...extra,
    xaxis: { ...axis, ...extra.xaxis },
    yaxis: { ...axis, rangemode: "tozero", ...extra.yaxis, title: { standoff: 6, ...extra.yaxis.title } },
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
  /** `traces(begin, end, steps)` are Plotly's, of at most so many steps; `axis` is its vertical axis. */
  constructor(page, element, traces, axis) {
    Object.assign(this, { page, element, traces, axis });
  }

  update() {
    const { begin, end } = this.page.view, width = this.element.clientWidth - LEFT - RIGHT;
    const marks = timeTicks(begin, end, width / 90);
    const xaxis = {
      range: [begin, end], fixedrange: false, hoverformat: "s",
      tickvals: marks.map(({ time }) => time), ticktext: marks.map(({ text }) => text), tickangle: 0,
    };
    const steps = Math.max(100, Math.round(width / STEP_PIXELS));
    const drawn = Plotly.react(this.element, this.traces(begin, end, steps), layout({ xaxis, yaxis: this.axis, dragmode: "zoom" }), CONFIGURATION);
    if (!this.listening) {
      this.listening = true;
      this.element.on("plotly_relayout", (change) => this.#follow(change));
    }
    return drawn;
  }

  #follow(change) {
    const begin = change["xaxis.range[0]"], end = change["xaxis.range[1]"];
    if (begin !== undefined && end !== undefined) this.page.show({ begin, end });
    else if (change["xaxis.autorange"]) this.page.show({ begin: this.page.full.begin, end: this.page.full.end });
  }
}

/** One line for each run. */
function overlaid(page, seriesOf, scaleOf, spelling) {
  return (begin, end, most) => page.runs.filter((run) => seriesOf(run)).map((run) => {
    const { x, y } = seriesOf(run).steps(begin, end, most), scale = scaleOf(run);
    const text = x.map((time) => duration(time));
    const fill = run.number ? {} : { fill: "tozeroy", fillcolor: `rgba(${channels(runColour(0)).join()},0.12)` };
    return line(run, x, y.map((value) => value * scale), { text, hovertemplate: `${spelling}  (%{text})`, ...fill });
  });
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
    xaxis: { type: "log", range, ...marks, ...axis }, yaxis: { range: [0, 1.02], tickformat: ".0%", title: { text: "share of jobs" } },
    hovermode: "closest", margin: { l: LEFT, r: RIGHT, t: 8, b: 48 },
  };
  return Plotly.react(element, traces, layout(extra), CONFIGURATION);
}

const WAIT_MARKS = [[1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"], [6 * 3600, "6 h"], [86400, "1 d"],
  [7 * 86400, "7 d"], [30 * 86400, "30 d"], [365 * 86400, "1 y"]];
