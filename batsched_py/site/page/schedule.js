// The blocks of the schedule that the page has.

/** The blocks between two times, by lease. */
export class Schedule {
  constructor() {
    this.leases = new Map();
    this.rest = [];
    this.begin = this.end = 0;
  }

  /** Take the blocks between two times as they were read. */
  read(blocks, begin, end) {
    Object.assign(this, { begin, end, leases: new Map() });
    this.rest = blocks.filter((one) => one.lease === null || one.lease === undefined);
    for (const one of blocks) {
      if (one.lease === null || one.lease === undefined) continue;
      const there = this.leases.get(one.lease);
      if (there) there.push(one);
      else this.leases.set(one.lease, [one]);
    }
  }

  /** Replace the blocks of changed leases. */
  apply(changed) {
    for (const { lease, blocks } of changed) {
      const inside = blocks.filter((one) => one.start < this.end && (one.end ?? Infinity) > this.begin);
      if (inside.length) this.leases.set(lease, inside);
      else this.leases.delete(lease);
    }
  }

  get blocks() { return [...this.leases.values()].flat().concat(this.rest); }
}
