// What the reader looks at: one window of time for all pictures, one chosen job, one way of colouring.

/** Narrower windows say nothing, in seconds. */
const NARROWEST = 0.001;

class Page {
  constructor(data) {
    this.users = data.users;
    this.names = data.names;
    this.prefix = data.prefix;
    this.tolerance = data.tolerance;
    /** For each run: the number of a job -> why it waited, in lines; of the longest waits. */
    this.waits = data.waits;
    this.bound = data.bound;
    this.states = data.states;
    this.stateColours = data.state_colours.map((colour) => channels(colour));
    this.jobColours = data.job_colours.map((colour) => channels(colour));
    this.machineStates = data.machine_states;
    this.runs = data.runs.map((packed, number) => new Run(number, packed, data.names.length, data.mark_kinds, data.mark_names));
    const latest = Math.max(0, ...this.runs.map((run) => run.end));
    this.window = data.window;
    const [begin, end] = data.window ?? [0, latest || 1];
    this.full = { begin, end, low: 0, high: Math.max(1, ...this.runs.map((run) => run.rows)) - 1 };
    this.view = { ...this.full };
    this.mode = "job";
    this.chosen = -1;
    this.gantts = [];
    this.timeCharts = [];
    /** Functions that are called when colours come to tell something else. */
    this.onColours = [];
    /** Functions that are called when a job is chosen. */
    this.onChoice = [];
    /** Functions that are called when the window has changed. */
    this.onWindow = [];
  }

  /** Whether a job of a run was submitted in the time that is measured. */
  measures(run, row) { return this.measuresAt(run.submit[row]); }

  /** Whether a job that was submitted then counts. */
  measuresAt(submit) { return !this.window || (this.window[0] <= submit && submit < this.window[1]); }

  /** Show another window; what is beyond the runs is cut off, and a window is moved rather than cut. */
  show(wanted) {
    const { full } = this, view = { ...this.view, ...wanted };
    const width = Math.min(Math.max(view.end - view.begin, NARROWEST), full.end - full.begin);
    const begin = Math.min(Math.max(view.begin, full.begin), full.end - width);
    const rows = Math.min(Math.max(Math.round(view.high) - Math.round(view.low), 0), full.high - full.low);
    const low = Math.min(Math.max(Math.round(view.low), full.low), full.high - rows);
    this.view = { begin, end: begin + width, low, high: low + rows };
    this.redraw();
  }

  /** Have hosts as rows of all Gantt charts, or GPUs. */
  useRows(kind) {
    for (const run of this.runs) run.useRows(kind);
    for (const gantt of this.gantts) gantt.fit();
    this.full.high = Math.max(1, ...this.runs.map((run) => run.rows)) - 1;
    this.show({ low: 0, high: this.full.high });
  }

  /** Make time `factor` times as wide, around a time that stays where it is. */
  zoom(factor, around = (this.view.begin + this.view.end) / 2) {
    const { begin, end } = this.view;
    const width = Math.min(Math.max((end - begin) * factor, NARROWEST), this.full.end - this.full.begin);
    const from = around - (around - begin) / (end - begin) * width;
    this.show({ begin: from, end: from + width });
  }

  /** Show more or fewer hosts, around one that stays in sight. */
  zoomHosts(factor, around) {
    const { low, high } = this.view, count = Math.max(1, Math.round((high - low + 1) * factor));
    const from = Math.round(around - (around - low) * count / (high - low + 1));
    this.show({ low: from, high: from + count - 1 });
  }

  move(time, hosts = 0) {
    const { begin, end, low, high } = this.view;
    this.show({ begin: begin + time, end: end + time, low: low + hosts, high: high + hosts });
  }

  /** Choose a job by its number, -1 for none; with `reveal`, go where it is if it is not in sight. */
  choose(job, reveal = false) {
    this.chosen = job;
    const spans = this.runs.filter((run) => job >= 0 && run.rowOf[job] >= 0)
      .map((run) => [run.start[run.rowOf[job]], run.finish[run.rowOf[job]]]);
    if (reveal && spans.length) {
      const begin = Math.min(...spans.map(([start]) => start)), end = Math.max(...spans.map(([, finish]) => finish));
      const margin = Math.max(2 * (end - begin), (this.full.end - this.full.begin) / 2000);
      this.show({ begin: begin - margin, end: end + margin, low: this.full.low, high: this.full.high });
    }
    for (const tell of this.onChoice) tell(job);
    this.redraw();
  }

  colourBy(mode) {
    this.mode = mode;
    for (const tell of this.onColours) tell(mode);
    for (const gantt of this.gantts) gantt.recolour();
    this.redraw();
  }

  /** Draw once before the next frame, however often this is called; charts of lines follow when the hand rests. */
  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      for (const gantt of this.gantts) gantt.draw();
      for (const tell of this.onWindow) tell(this.view);
      clearTimeout(this.rest);
      this.rest = setTimeout(() => {
        this.rest = undefined;
        this.timeCharts.forEach((chart) => chart.update());
      }, 60);
    });
  }

  /** Waits until everything that was asked for is drawn. */
  async settled() {
    while (this.frame !== undefined || this.rest !== undefined) await new Promise((done) => setTimeout(done, 5));
  }

  /** After another scheme of colours or another size. */
  restyle() {
    for (const gantt of this.gantts) gantt.recolour();
    this.redraw();
  }
}
