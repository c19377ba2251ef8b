// The Gantt chart of a run on a canvas: rectangles while they are few, a raster or a heat map while they are many.

/** Left and right of every picture with a time axis, so that equal times stand below each other. */
const LEFT = 64, RIGHT = 16;
const ABOVE = 6, BELOW = 24;
/** So many rectangles are drawn one by one. */
const MOST_RECTANGLES = 4000;

class Gantt {
  constructor(page, run, canvas) {
    this.page = page;
    this.run = run;
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.scratch = document.createElement("canvas");
    this.raster = null;
    this.mode = null;
    /** For tests and for those who look: how it was drawn, and how many rectangles were in sight. */
    this.drawn = { how: "", rectangles: 0, milliseconds: 0 };
    this.fit();
  }

  /** Have the height for the rows of the run. */
  fit() {
    this.canvas.style.height = `${this.#plotHeight() + ABOVE + BELOW}px`;
  }

  #plotHeight() {
    const hosts = this.run.rows, most = this.page.runs.length > 1 ? 280 : 420, tallest = this.run.layout?.lanes > 1 ? 60 : 24;
    return Math.round(Math.min(Math.max(hosts * Math.min(tallest, Math.max(1, Math.floor(most / hosts))), Math.min(hosts * 24, 120)), most));
  }

  /** Edges of the plot in CSS pixels. */
  get box() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return { left: LEFT, right: width - RIGHT, top: ABOVE, bottom: height - BELOW };
  }

  x(time) {
    const { left, right } = this.box, { begin, end } = this.page.view;
    return left + (time - begin) / (end - begin) * (right - left);
  }

  timeAt(x) {
    const { left, right } = this.box, { begin, end } = this.page.view;
    return begin + (x - left) / (right - left) * (end - begin);
  }

  /** The hosts in sight, of those that this run has. */
  get hosts() {
    const { low, high } = this.page.view;
    return { low: Math.min(low, this.run.rows - 1), high: Math.min(high, this.run.rows - 1) };
  }

  /** The upper edge of a host. */
  y(host) {
    const { top, bottom } = this.box, { low, high } = this.hosts;
    return bottom - (host + 1 - low) / (high - low + 1) * (bottom - top);
  }

  hostAt(y) { return Math.floor(this.placeAt(y)); }

  /** The place on the axis of rows, a whole number at the lower edge of each. */
  placeAt(y) {
    const { top, bottom } = this.box, { low, high } = this.hosts;
    return low + (bottom - y) / (bottom - top) * (high - low + 1);
  }

  /** Each row's class, and the classes' colours, for what the reader chose to see. */
  recolour() {
    const mode = MODES[this.page.mode];
    this.classes = new Uint8Array(this.run.count).map((_, row) => mode.classOf(this.run, row, this.page));
    this.colours = mode.colours(this.page);
    this.styles = this.colours.map(([red, green, blue]) => `rgb(${red},${green},${blue})`);
    this.mode = this.page.mode;
    this.patterns = null;
  }

  /** The colour of a lease: that of its first run. */
  leaseStyle(lease) {
    const [row] = this.run.leases.rows[lease];
    return row === undefined ? styled("crowd") : this.styles[this.classes[row]];
  }

  draw() {
    const began = performance.now(), ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    if (!this.mode) this.recolour();
    const context = this.context, { left, right, top, bottom } = this.box;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.fillStyle = styled("plot");
    context.fillRect(left, top, right - left, bottom - top);
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    const shown = this.#inSight();
    if (shown.length <= MOST_RECTANGLES) {
      this.#drawRectangles(shown);
      if (this.run.leases && !this.run.showsGpus) drawMarks(this);
    } else if (this.page.mode === "job" && tooNarrow(this)) {
      this.drawn.how = "heat";
      this.drawn.step = drawHeat(this);
    } else {
      this.#drawRaster(ratio);
    }
    drawOutages(this);
    this.#drawChosen();
    context.restore();
    this.#drawAxes();
    this.drawn.rectangles = shown.length;
    this.drawn.milliseconds = performance.now() - began;
  }

  /** Rectangles that meet the window; no more than tell that they are too many. */
  #inSight() {
    const { begin, end } = this.page.view, { low, high } = this.hosts, run = this.run, shown = [];
    const [first, last] = run.between(begin, end);
    for (let i = first; i < last && shown.length <= MOST_RECTANGLES; i++) {
      if (run.finish[run.owner[i]] > begin && run.high[i] > low - 1 && run.low[i] < high + 1) shown.push(i);
    }
    return shown;
  }

  #drawRectangles(shown) {
    this.drawn.how = "rectangles";
    const context = this.context, run = this.run, { left, right } = this.box;
    const line = this.y(0) - this.y(1) >= 4 ? 1 : 0;
    context.font = `11px ${styled("font")}`;
    context.textBaseline = "middle";
    for (const i of shown) {
      const row = run.owner[i], style = this.styles[this.classes[row]];
      const from = Math.max(this.x(run.start[row]), left - 2), to = Math.min(this.x(run.finish[row]), right + 2);
      const top = this.y(run.high[i]), height = this.y(run.low[i] - 1) - top;
      const gap = line && to - from > 3 ? 1 : 0;
      context.fillStyle = style;
      context.fillRect(from, top, Math.max(to - from - gap, 0.6), Math.max(height - line, 0.6));
      const [red, green, blue] = this.colours[this.classes[row]];
      const ink = 0.299 * red + 0.587 * green + 0.114 * blue > 120 ? "#111" : "#fff";
      drawLost(this, row, top, height - line, ink);
      const wide = to - from - 6;
      if (height < 11 || wide < 7) continue;
      const name = this.page.names[run.job[row]];
      if (context.measureText(name).width > wide) continue;
      context.fillStyle = ink;
      context.fillText(name, from + 3, top + (height - line) / 2 + 0.5);
    }
  }

  #drawRaster(ratio) {
    this.drawn.how = "raster";
    const { left, right, top, bottom } = this.box, { low, high } = this.hosts;
    const columns = Math.max(1, Math.round((right - left) * ratio));
    const rows = Math.max(1, Math.min(high - low + 1, Math.round((bottom - top) * ratio)));
    this.prepare(columns, rows);
    const { begin, end } = this.page.view;
    this.raster.fill(this.run, { begin, end, low, high }, this.classes, this.colours);
    const own = this.page.mode === "job";
    this.raster.paint(this.image, channels(styled("plot")), channels(styled("crowd")), this.classes, this.colours, own);
    this.showImage(left, right);
  }

  /** Have a raster and an image of so many cells. */
  prepare(columns, rows) {
    if (this.raster && this.raster.columns === columns && this.raster.rows === rows) return;
    this.raster = new Raster(columns, rows);
    this.scratch.width = columns;
    this.scratch.height = rows;
    this.image = this.scratch.getContext("2d").createImageData(columns, rows);
  }

  /** Show the image on all hosts in sight, between two places. */
  showImage(left, right) {
    const { top, bottom } = this.box;
    this.scratch.getContext("2d").putImageData(this.image, 0, 0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.scratch, left, top, right - left, bottom - top);
  }

  /** The chosen job, and where it was in the first run. */
  #drawChosen() {
    const { chosen, runs } = this.page;
    if (chosen < 0) return;
    if (this.run !== runs[0]) this.#outline(runs[0], runs[0].rowOf[chosen], [4, 3]);
    this.#outline(this.run, this.run.rowOf[chosen], []);
  }

  #outline(run, row, dash) {
    if (row < 0 || !run.drawn) return;
    const context = this.context, { left, right } = this.box;
    for (const [style, width] of [[styled("ground"), 4], [styled("text"), 2]]) {
      context.strokeStyle = style;
      context.lineWidth = width;
      context.setLineDash(dash);
      for (const [low, high] of run.rectanglesOf(row)) {
        const from = Math.max(this.x(run.start[row]), left - 9), to = Math.min(this.x(run.finish[row]), right + 9);
        const top = this.y(high);
        context.strokeRect(from, top, Math.max(to - from, 2), this.y(low - 1) - top);
      }
    }
    context.setLineDash([]);
  }

  #drawAxes() {
    const context = this.context, { left, right, top, bottom } = this.box, { begin, end } = this.page.view;
    context.font = `12px ${styled("font")}`;
    context.fillStyle = styled("quiet");
    context.strokeStyle = styled("line");
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, right - left + 1, bottom - top + 1);
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const { time, text } of timeTicks(begin, end, (right - left) / 90)) {
      const x = this.x(time);
      context.fillRect(Math.round(x), bottom + 1, 1, 4);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x, half), right + RIGHT - half), bottom + 8);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    const { low, high } = this.hosts, step = Math.max(1, roundStep(Math.max(1, (high - low + 1) * 26 / (bottom - top))));
    for (let host = Math.ceil(low / step) * step; host <= high; host += step) {
      context.fillText(this.run.rowName(host), left - 7, this.y(host) + (this.y(host - 1) - this.y(host)) / 2);
    }
    context.save();
    context.translate(12, (top + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(this.run.showsGpus ? "host:GPU" : "host", 0, 0);
    context.restore();
    context.textAlign = "left";
  }

  /** The mark of a lease at a point where no job runs; null for none. */
  markAt(x, y) {
    const { left, right, top, bottom } = this.box, { leases } = this.run;
    if (!leases || this.run.showsGpus || x < left || x > right || y < top || y > bottom) return null;
    return leases.at(this.timeAt(x), this.hostAt(y));
  }

  /** The outage of a host at a point; null for none. */
  outageAt(x, y) {
    const { left, right, top, bottom } = this.box;
    if (x < left || x > right || y < top || y > bottom) return null;
    return this.run.outageAt(this.timeAt(x), this.hostAt(y));
  }

  /** What is at a point, as {row, others}: the job with the largest part of that pixel, how many more; null if none. */
  at(x, y) {
    const { left, right, top, bottom } = this.box, run = this.run;
    if (x < left || x > right || y < top || y > bottom) return null;
    const begin = this.timeAt(x - 0.5), end = this.timeAt(x + 0.5), place = this.placeAt(y);
    const [first, last] = run.between(begin, end);
    let row = -1, most = -1, count = 0;
    for (let i = first; i < last; i++) {
      const candidate = run.owner[i];
      if (run.finish[candidate] <= begin || place < run.low[i] || place >= run.high[i] + 1) continue;
      count += 1;
      const part = Math.min(end, run.finish[candidate]) - Math.max(begin, run.start[candidate]);
      if (part > most) { most = part; row = candidate; }
    }
    return row < 0 ? null : { row, others: count - 1 };
  }
}
