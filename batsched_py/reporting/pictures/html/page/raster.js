// A schedule on a grid of pixels, for times at which jobs are narrower than a pixel or too many to draw one by one.

/** Narrower jobs, in pixels, are seen as a part of the crowd and not by themselves. */
const WIDEST_CROWD = 2;

/** What of each cell, one pixel wide and one row of hosts high, is busy, and with jobs of which class. */
class Raster {
  constructor(columns, rows) {
    this.columns = columns;
    this.rows = rows;
    const size = columns * rows;
    this.busy = new Float32Array(size);
    this.most = new Float32Array(size);
    this.owner = new Int32Array(size);
    this.red = new Float32Array(size);
    this.green = new Float32Array(size);
    this.blue = new Float32Array(size);
  }

  clear() {
    this.busy.fill(0);
    this.most.fill(0);
    this.red.fill(0);
    this.green.fill(0);
    this.blue.fill(0);
  }

  /** Fill the grid from the rectangles of a run; `window` is {begin, end, low, high}, `high` being the last host. */
  fill(run, window, classes, colours) {
    this.clear();
    const { begin, end, low, high } = window;
    const perRow = (high - low + 1) / this.rows, scale = this.columns / (end - begin);
    const [first, last] = run.between(begin, end);
    for (let i = first; i < last; i++) {
      const row = run.owner[i];
      if (run.finish[row] <= begin || run.high[i] <= low - 1 || run.low[i] >= high + 1) continue;
      const left = Math.max(0, (run.start[row] - begin) * scale);
      const right = Math.min(this.columns, (run.finish[row] - begin) * scale);
      const bottom = Math.max(0, (run.low[i] - low) / perRow), top = Math.min(this.rows, (run.high[i] + 1 - low) / perRow);
      this.#cover(left, right, bottom, top, right - left >= WIDEST_CROWD ? row : -1, colours[classes[row]]);
    }
  }

  #cover(left, right, bottom, top, owner, [red, green, blue]) {
    const lastColumn = Math.min(this.columns, Math.ceil(right)), lastRow = Math.min(this.rows, Math.ceil(top - 1e-9));
    for (let r = Math.floor(bottom + 1e-9); r < lastRow; r++) {
      const height = Math.min(r + 1, top) - Math.max(r, bottom);
      for (let c = Math.floor(left), at = r * this.columns + c; c < lastColumn; c++, at++) {
        const area = height * (Math.min(c + 1, right) - Math.max(c, left));
        this.busy[at] += area;
        this.red[at] += area * red;
        this.green[at] += area * green;
        this.blue[at] += area * blue;
        if (owner >= 0 && area > this.most[at]) {
          this.most[at] = area;
          this.owner[at] = owner;
        }
      }
    }
  }

  /** Pixels of a heat map: `colourOf` gives that of a share, `covered` is the part of each column that counts. */
  paintBusy(image, colourOf, covered) {
    const palette = Array.from({ length: 101 }, (_, percent) => colourOf(percent / 100));
    for (let r = 0; r < this.rows; r++) {
      for (let c = 0, at = r * this.columns, to = 4 * (this.rows - 1 - r) * this.columns; c < this.columns; c++, at++, to += 4) {
        const share = Math.min(1, this.busy[at] / covered[c]);
        image.data.set([...palette[Math.round(100 * share)], 255], to);
      }
    }
  }

  /**
   * Pixels of an image, the first row of hosts lowest. A cell shows what is in it by its share. Where jobs have
   * colours of their own, a mix of them would be no job's: what does not belong to a job that has half of the cell,
   * and is wide enough to be seen, is `crowd`.
   */
  paint(image, ground, crowd, classes, colours, ownColours) {
    const pixels = image.data;
    for (let r = 0; r < this.rows; r++) {
      for (let c = 0, at = r * this.columns, to = 4 * (this.rows - 1 - r) * this.columns; c < this.columns; c++, at++, to += 4) {
        const busy = this.busy[at], idle = Math.max(0, 1 - busy), whole = Math.max(busy, 1);
        let red = this.red[at], green = this.green[at], blue = this.blue[at];
        if (ownColours && busy > 0) {
          const owned = this.most[at] >= 0.5 ? this.most[at] : 0, rest = busy - owned;
          const colour = colours[classes[this.owner[at]]];
          red = owned * colour[0] + rest * crowd[0];
          green = owned * colour[1] + rest * crowd[1];
          blue = owned * colour[2] + rest * crowd[2];
        }
        pixels[to] = red / whole + idle * ground[0];
        pixels[to + 1] = green / whole + idle * ground[1];
        pixels[to + 2] = blue / whole + idle * ground[2];
        pixels[to + 3] = 255;
      }
    }
  }
}
