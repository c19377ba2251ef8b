// Patterns of what leases have of hosts beside their runs, on the canvas of a Gantt chart.

/** Kind of a mark -> how a tile of TILE pixels is drawn; the rest is transparent. */
const TILE = 8;
const STROKES = {
  suspend: [[[0, 0], [8, 8]], [[-4, 4], [4, 12]], [[4, -4], [12, 4]]],
  resume: [[[0, 8], [8, 0]], [[-4, 4], [4, -4]], [[4, 12], [12, 4]]],
  migrate: [[[2, 0], [2, 8]], [[6, 0], [6, 8]]],
  shutdown: [[[0, 0], [8, 8]], [[0, 8], [8, 0]]],
  lost: [[[0, 2], [8, 2]], [[0, 6], [8, 6]]],
  image: [[[0, 4], [4, 0]], [[4, 8], [8, 4]], [[0, 8], [8, 0]]],
  transfer: [],
  unavailable: [[[0, 4], [8, 4]], [[4, 0], [4, 8]]],
  slowed: [[[0, 2], [4, 6]], [[4, 6], [8, 2]]],
};
/** What a lease holds has its colour below the pattern; the others lie upon whatever runs there. */
const HOLDING = new Set(["suspend", "resume", "migrate", "shutdown"]);
/** Part of a host's height that a kept image takes, from below. */
const IMAGE_HEIGHT = 0.15;

function makePattern(context, kind, colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = TILE;
  const on = tile.getContext("2d");
  on.strokeStyle = on.fillStyle = colour;
  on.lineWidth = 1;
  for (const [[fromX, fromY], [toX, toY]] of STROKES[kind]) {
    on.beginPath();
    on.moveTo(fromX, fromY);
    on.lineTo(toX, toY);
    on.stroke();
  }
  if (kind === "transfer") for (const [x, y] of [[1, 1], [5, 5]]) on.fillRect(x, y, 2, 2);
  return context.createPattern(tile, "repeat");
}

/** Draw upon a job of a Gantt chart, as its last part, the time that it lost to others. */
function drawLost(gantt, row, top, height, ink) {
  const { run, context } = gantt;
  if (!run.lost[row]) return;
  gantt.patterns ??= {};
  const pattern = gantt.patterns[`slowed${ink}`] ??= makePattern(context, "slowed", ink);
  const from = gantt.x(run.finish[row] - run.lost[row]);
  context.fillStyle = pattern;
  context.fillRect(from, top, gantt.x(run.finish[row]) - from, height);
}

/** Draw the hosts that were unavailable, upon the jobs that ran on there. */
function drawOutages(gantt) {
  const { begin, end } = gantt.page.view, { low, high } = gantt.hosts, { context } = gantt;
  if (!gantt.run.outages.length) return;
  gantt.patterns ??= {};
  gantt.patterns.unavailable ??= makePattern(context, "unavailable", styled("quiet"));
  context.fillStyle = gantt.patterns.unavailable;
  for (const { start, finish, ranges } of gantt.run.outages) {
    if (start >= end || finish <= begin) continue;
    for (const [first, last] of ranges) {
      if (last < low || first > high) continue;
      const left = gantt.x(start), top = gantt.y(last);
      context.fillRect(left, top, Math.max(gantt.x(finish) - left, 1), gantt.y(first - 1) - top);
    }
  }
}

/** Draw the marks of a Gantt chart's leases that are in sight. */
function drawMarks(gantt) {
  const { leases } = gantt.run, { begin, end } = gantt.page.view, { low, high } = gantt.hosts, { context } = gantt;
  gantt.patterns ??= {};
  for (const mark of leases.marks) {
    if (mark.asked >= end || mark.finish <= begin) continue;
    for (const [first, last] of mark.ranges) {
      if (last < low || first > high) continue;
      const from = gantt.x(mark.start), top = gantt.y(last), height = gantt.y(first - 1) - top;
      const box = [from, top, gantt.x(mark.finish) - from, height];
      if (mark.kind === "reservation") drawReservation(gantt, mark, box);
      else drawPattern(gantt, mark, mark.kind === "image" ? [from, top + height * (1 - IMAGE_HEIGHT), box[2], height * IMAGE_HEIGHT] : box);
    }
  }
  context.setLineDash([]);
}

function drawPattern(gantt, mark, box) {
  const { context, run } = gantt;
  if (HOLDING.has(mark.kind) && mark.lease >= 0) {
    context.fillStyle = gantt.leaseStyle(mark.lease);
    context.fillRect(...box);
  }
  gantt.patterns[mark.kind] ??= makePattern(context, mark.kind, HOLDING.has(mark.kind) && run.leases ? "#111" : styled("text"));
  context.fillStyle = gantt.patterns[mark.kind];
  context.fillRect(...box);
}

/** A frame around what runs by reservation, and a dotted line that leads there from its request. */
function drawReservation(gantt, mark, [left, top, width, height]) {
  const { context } = gantt;
  context.strokeStyle = styled("text");
  context.lineWidth = 2;
  context.setLineDash([]);
  context.strokeRect(left + 1, top + 1, Math.max(width - 2, 1), Math.max(height - 3, 1));
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  context.beginPath();
  context.moveTo(gantt.x(mark.asked), top + height - 4.5);
  context.lineTo(left, top + height - 4.5);
  context.stroke();
}
