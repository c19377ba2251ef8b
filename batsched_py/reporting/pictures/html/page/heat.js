// How busy each host was over time, for windows in which most jobs are narrower than a pixel.

/** Width of a cell, at least, and height of a row of hosts, in pixels. */
const HEAT_WIDTH = 6, HEAT_HEIGHT = 2;
const HEAT_MARKS = [0, 0.25, 0.5, 0.75, 1];

/** Whether most of the rectangles in sight are narrower than a pixel: they would look like a barcode. */
function tooNarrow(gantt) {
  const { run } = gantt, { begin, end } = gantt.page.view, { left, right } = gantt.box;
  const pixel = (end - begin) / (right - left), [first, last] = run.between(begin, end);
  let seen = 0, narrow = 0;
  for (let i = first; i < last; i++) {
    const row = run.owner[i];
    if (run.finish[row] <= begin) continue;
    seen += 1;
    if (run.finish[row] - run.start[row] < pixel) narrow += 1;
  }
  return 2 * narrow > seen;
}

/** Draw a cell for each host, or a few, and each piece of time of a round length; returns that length in seconds. */
function drawHeat(gantt) {
  const { run, page } = gantt, { begin, end } = page.view, { low, high } = gantt.hosts;
  const { left, right, top, bottom } = gantt.box, hosts = high - low + 1;
  const step = tickStep((end - begin) / (right - left) * HEAT_WIDTH);
  const first = Math.floor(begin / step), columns = Math.ceil(end / step) - first;
  gantt.prepare(columns, Math.min(hosts, Math.max(1, Math.round((bottom - top) / HEAT_HEIGHT))));
  const window = { begin: first * step, end: (first + columns) * step, low, high };
  gantt.raster.fill(run, window, gantt.classes, gantt.colours);
  gantt.raster.paintBusy(gantt.image, heatColour, heatCover(page.full, first, columns, step));
  gantt.showImage(gantt.x(window.begin), gantt.x(window.end));
  return step;
}

/** The part of each column that is within the run: the first one and the last may reach beyond. */
function heatCover(full, first, columns, step) {
  return Float64Array.from({ length: columns }, (_, column) => {
    const from = (first + column) * step;
    return Math.max((Math.min(from + step, full.end) - Math.max(from, full.begin)) / step, 1e-9);
  });
}

/** The colour of a host that is busy for a share of the time. */
function heatColour(share) {
  const ground = channels(styled("plot")), full = channels(styled("heat"));
  return ground.map((channel, i) => channel + share * (full[i] - channel));
}
