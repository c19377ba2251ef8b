// What the page carries: unpacking it, and each run as columns of numbers.

/** The text of a packed element: base64 of gzip. Nothing is fetched. */
async function unpack(id) {
  const binary = atob(document.getElementById(id).textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** First index from which on `numbers`, ascending, are above `value`. */
function above(numbers, value) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] > value) high = middle; else low = middle + 1;
  }
  return low;
}

/** A quantity that changes in steps, kept as its integral, so that its mean over any time is exact and cheap. */
class Series {
  /** `times` ascend strictly, `values[i]` holds from times[i] on; before the first it is 0. */
  constructor(times, values) {
    this.times = times;
    this.values = values;
    this.integral = new Float64Array(times.length);
    for (let i = 1; i < times.length; i++) {
      this.integral[i] = this.integral[i - 1] + values[i - 1] * (times[i] - times[i - 1]);
    }
  }

  /** What grew to `integral[i]` until times[i]: joules become watts, host seconds become hosts. */
  static ofIntegral(times, integral) {
    const values = times.map((time, i) => (i + 1 < times.length ? (integral[i + 1] - integral[i]) / (times[i + 1] - time) : 0));
    return new Series(Float64Array.from(times), Float64Array.from(values));
  }

  /** How many there are at a time of things that come at begins[i] and go at ends[i], each counting weights[i]. */
  static ofSpans(begins, ends, weights) {
    const count = begins.length;
    const order = new Uint32Array(2 * count).map((_, i) => i);
    const when = (i) => (i < count ? begins[i] : ends[i - count]);
    const all = Float64Array.from(order, when);
    order.sort((a, b) => all[a] - all[b]);
    const times = [0], values = [0];
    let value = 0;
    for (const i of order) {
      const weight = weights ? weights[i % count] : 1;
      value += i < count ? weight : -weight;
      if (all[i] > times[times.length - 1]) {
        times.push(all[i]);
        values.push(value);
      } else {
        values[values.length - 1] = value;
      }
    }
    return new Series(Float64Array.from(times), Float64Array.from(values));
  }

  /** The integral from the beginning to `time`. */
  until(time) {
    const i = above(this.times, time) - 1;
    return i < 0 ? 0 : this.integral[i] + this.values[i] * (time - this.times[i]);
  }

  mean(begin, end) {
    return end > begin ? (this.until(end) - this.until(begin)) / (end - begin) : 0;
  }

  /** Steps from `begin` to `end`: each one if there are at most `most`, else means over `most` equal times. */
  steps(begin, end, most) {
    const first = above(this.times, begin), last = above(this.times, end);
    const x = [], y = [];
    if (last - first <= most) {
      x.push(begin);
      y.push(first > 0 ? this.values[first - 1] : 0);
      for (let i = first; i < last; i++) { x.push(this.times[i]); y.push(this.values[i]); }
    } else {
      for (let i = 0; i < most; i++) {
        const from = begin + (end - begin) * i / most, to = begin + (end - begin) * (i + 1) / most;
        x.push(from);
        y.push(this.mean(from, to));
      }
    }
    x.push(end);
    y.push(y[y.length - 1]);
    return { x, y };
  }
}

/** A run: its jobs by start, a column for each of their properties, and the rectangles of its Gantt chart. */
class Run {
  constructor(number, packed, jobCount, markKinds, markNames) {
    this.number = number;
    this.name = packed.name;
    this.hosts = packed.hosts;
    this.count = packed.job.length;
    this.job = Int32Array.from(packed.job);
    this.submit = Float64Array.from(packed.submit);
    this.start = Float64Array.from(packed.start);
    // To the microsecond again: a job that starts when another ends must not seem to start before.
    this.finish = Float64Array.from(packed.run, (run, i) => Math.round((packed.start[i] + run) * 1e6) / 1e6);
    this.size = Int32Array.from(packed.size);
    this.state = Uint8Array.from(packed.state);
    this.colour = Uint8Array.from(packed.colour);
    this.user = Int32Array.from(packed.user);
    /** Seconds by which others have delayed a job; empty if nobody delayed any. */
    this.lost = Float64Array.from(packed.lost);
    this.set = Int32Array.from(packed.set);
    this.sets = packed.sets;
    this.rowOf = new Int32Array(jobCount).fill(-1);
    this.job.forEach((job, row) => { this.rowOf[job] = row; });
    this.rejected = new Set(packed.rejected);
    this.strangers = new Set(packed.strangers);
    this.end = this.finish.reduce((latest, time) => Math.max(latest, time), 0);
    this.queue = Series.ofSpans(this.submit, this.start, null);
    this.busy = packed.busy ? Series.ofIntegral(packed.busy.time, packed.busy.totals[0]) : Series.ofSpans(this.start, this.finish, this.size);
    this.power = packed.power && Series.ofIntegral(packed.power.time, packed.power.totals[0]);
    this.machines = packed.machines && packed.machines.totals.map((seconds) => Series.ofIntegral(packed.machines.time, seconds));
    this.leases = packed.leases && new Leases(packed.leases, this, markKinds, markNames);
    if (this.leases) this.end = Math.max(this.end, this.leases.end);
    this.outages = packed.outages.hosts.map((hosts, i) => ({
      start: packed.outages.start[i], finish: packed.outages.start[i] + packed.outages.length[i], hosts, ranges: [],
    }));
    /** Submission, wait and slowdown of each job, of which some were attempted more than once; null if none was. */
    this.whole = packed.whole;
    /** The share of each resource that is allocated; empty if jobs have whole hosts only. */
    this.resources = packed.resources.growth
      ? packed.resources.growth.totals.map((seconds) => Series.ofIntegral(packed.resources.growth.time, seconds)) : [];
    this.resourceNames = packed.resources.names;
    /** Rows that jobs share, each divided into lanes: of hosts, and of GPUs. */
    this.layouts = packed.lanes;
    this.useRows("host");
  }

  /** Have hosts as rows of the Gantt chart, or GPUs. */
  useRows(kind) {
    this.layout = this.layouts.find(({ rows }) => rows === kind) ?? null;
    this.rows = this.layout ? this.layout.names.length : this.hosts;
    for (const outage of this.outages) {
      const ranges = hostRanges(outage.hosts, this.hosts);
      const out = (name) => ranges.some(([low, high]) => low <= parseInt(name, 10) && parseInt(name, 10) <= high);
      outage.ranges = this.showsGpus ? this.layout.names.flatMap((name, row) => (out(name) ? [[row, row]] : [])) : ranges;
    }
    this.#placeRectangles();
  }

  get showsGpus() { return this.layout?.rows === "gpu"; }

  rowName(row) { return this.layout ? this.layout.names[row] : String(row); }

  /** The waits and slowdowns of the jobs that `counts` takes by their submission: attempts of a job are one. */
  measured(counts, bound) {
    const submit = this.whole ? this.whole.submit : Array.from(this.submit);
    const rows = submit.map((_, row) => row).filter((row) => counts(submit[row]));
    if (this.whole) return { waits: rows.map((row) => this.whole.wait[row]), slowdowns: rows.map((row) => this.whole.slowdown[row]) };
    return { waits: rows.map((row) => this.wait(row)), slowdowns: rows.map((row) => this.slowdown(row, bound)) };
  }

  /** The outage at a time and on a host; null for none. */
  outageAt(time, host) {
    return this.outages.find(({ start, finish, ranges }) =>
      start <= time && time < finish && ranges.some(([low, high]) => low <= host && host <= high)) ?? null;
  }

  get drawn() { return this.sets.length > 0; }

  wait(row) { return this.start[row] - this.submit[row]; }

  /** How many times as long as alone a job took. */
  timesAlone(row) {
    const run = this.finish[row] - this.start[row];
    return this.lost[row] ? run / Math.max(run - this.lost[row], 1e-6) : 1;
  }

  slowdown(row, bound) {
    const run = this.finish[row] - this.start[row];
    return Math.max(1, (this.wait(row) + run) / Math.max(run, bound));
  }

  /** The rows [low, high] of each rectangle of a job. */
  rectanglesOf(row) {
    const [first, last] = [above(this.rectangleStart, this.start[row] - 1e-9), above(this.rectangleStart, this.start[row])];
    const found = [];
    for (let i = first; i < last; i++) if (this.owner[i] === row) found.push([this.low[i], this.high[i]]);
    return found;
  }

  /** Rectangles [first, last) that may show between two times; those that ended before are still to be left out. */
  between(begin, end) {
    return [above(this.reach, begin), above(this.rectangleStart, end)];
  }

  /** One rectangle for each maximal range of hosts of a job, ordered by start. */
  #placeRectangles() {
    const { sets, set } = this.layout ?? this, lanes = this.layout?.lanes ?? 1, places = this.rows * lanes;
    const ranges = sets.map((text) => text.split(" ").map((range) => range.split("-").map(Number)));
    const owner = [], low = [], high = [];
    if (this.drawn) {
      for (let row = 0; row < this.count; row++) {
        for (const range of ranges[set[row]] ?? []) {
          if (!(range[0] < places)) continue; // storage hosts are numbered after those that compute
          owner.push(row);
          low.push(range[0] / lanes);
          high.push((Math.min(range[range.length - 1], places - 1) + 1) / lanes - 1);
        }
      }
    }
    this.owner = Int32Array.from(owner);
    /** Rectangles begin at the lower edge of row `low`, and end at the upper edge of row `high`; both may be parts of rows. */
    this.low = Float64Array.from(low);
    this.high = Float64Array.from(high);
    this.rectangleStart = Float64Array.from(owner, (row) => this.start[row]);
    let latest = -1;
    this.reach = Float64Array.from(owner, (row) => (latest = Math.max(latest, this.finish[row])));
  }
}
