// Leases of a run: which jobs are segments of which, what became of each, and the marks beside its runs.

class Leases {
  /** `packed` has a column for each property; `run` is the run of these jobs, `kinds` and `names` those of marks. */
  constructor(packed, run, kinds, names) {
    Object.assign(this, packed, { ended: packed.end });
    this.run = run;
    this.names = names;
    const { marks } = packed;
    this.marks = marks.kind.map((kind, i) => ({
      kind: kinds[kind],
      lease: marks.lease[i],
      start: marks.start[i],
      finish: Math.round((marks.start[i] + marks.length[i]) * 1e6) / 1e6,
      asked: marks.asked[i],
      hosts: marks.hosts[i],
      ranges: hostRanges(marks.hosts[i], run.hosts),
    }));
    this.nameOf = Object.fromEntries(kinds.map((kind, i) => [kind, names[i]]));
    this.end = this.marks.reduce((latest, mark) => Math.max(latest, mark.finish), 0);
    this.rows = this.id.map(() => []);
    this.of.forEach((lease, row) => { if (lease >= 0) this.rows[lease].push(row); });
  }

  title(lease) { return `lease ${this.id[lease]}, ${this.type[lease]}`; }

  /** The mark at a time and on a host, of those that are where no job is; null for none. */
  at(time, host) {
    const shown = (mark) => mark.kind !== "reservation" && mark.kind !== "image" && mark.start <= time && time < mark.finish;
    return this.marks.find((mark) => shown(mark) && mark.ranges.some(([low, high]) => low <= host && host <= high)) ?? null;
  }

  /** What a mark tells, in lines. */
  story(mark) {
    const lines = [mark.lease < 0 ? this.nameOf[mark.kind] : `${this.title(mark.lease)}: ${this.nameOf[mark.kind]}`];
    lines.push(`hosts ${shorten(mark.hosts)}`, `${duration(mark.start)} to ${duration(mark.finish)}`);
    return lines;
  }

  /** The life of a lease, as [what, told] pairs. */
  facts(lease, names) {
    const told = (time) => (time === null ? "never" : duration(time));
    const spans = (marks) => marks.map((mark) => `${this.nameOf[mark.kind]} ${duration(mark.start)} to ${duration(mark.finish)}`);
    const segments = this.rows[lease].map((row) =>
      `${names[this.run.job[row]]} ${duration(this.run.start[row])} to ${duration(this.run.finish[row])}`);
    const own = this.marks.filter((mark) => mark.lease === lease && mark.kind !== "reservation");
    const waited = this.start[lease] === null ? null : this.start[lease] - this.submit[lease];
    return [
      ["lease", `${this.id[lease]}: ${this.type[lease]}, ${this.state[lease]}`],
      ["requested", told(this.submit[lease]) + (this.wanted[lease] === null ? "" : ` for ${duration(this.wanted[lease])}`)],
      ["first ran", told(this.start[lease])],
      ["its wait", waited === null ? "\u2013" : duration(waited)],
      ["segments", segments.join("; ") || "none"],
      ["between them", spans(own).join("; ") || "nothing"],
      ["suspended for", duration(this.suspended[lease])],
      ["work lost", duration(this.lost[lease])],
      ["was over", told(this.ended[lease])],
      ["its slowdown", this.slowdown[lease] === null ? "\u2013" : Number(this.slowdown[lease].toPrecision(4)).toString()],
    ];
  }
}

/** Ranges of hosts, [low, high] each, of a text like "0-3 7"; without storage hosts, which are from `hosts` on. */
function hostRanges(text, hosts) {
  return text.split(" ").map((range) => range.split("-").map(Number)).filter(([low]) => low < hosts)
    .map((range) => [range[0], Math.min(range[range.length - 1], hosts - 1)]);
}
