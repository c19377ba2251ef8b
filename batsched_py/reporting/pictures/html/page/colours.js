// Colours: of the scheme from the style sheet, of jobs and their final states as in all other pictures.

/** A colour of the style sheet, as it is in the scheme of now. */
function styled(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** Lines of runs differ in colour and in dash. */
function runColour(number) { return styled(`run-${number % 6}`); }
function runDash(number) { return ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"][number % 6]; }

/** From blue, through grey, to yellow, the longer the wait. */
const WAIT_LIMITS = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY];
const WAIT_NAMES = ["up to 1 min", "10 min", "1 h", "6 h", "1 d", "longer"];

const SAME = 0, EARLIER = 1, LATER = 2, ELSEWHERE = 3, NEW = 4;
const DIFFERENCE_NAMES = ["as in the first run", "starts earlier", "starts later", "same start, other hosts", "not in the first run"];

/** How a job of a run differs from the same job in the first run. */
function difference(run, first, row, tolerance) {
  const other = first.rowOf[run.job[row]];
  if (other < 0 || run.strangers.has(run.job[row])) return NEW;
  const late = run.start[row] - first.start[other];
  if (Math.abs(late) > tolerance) return late < 0 ? EARLIER : LATER;
  if (!run.drawn || !first.drawn) return SAME;
  return run.sets[run.set[row]] === first.sets[first.set[other]] ? SAME : ELSEWHERE;
}

/** What colours can tell: for each a class of a row, the colours of the classes and their names. */
const MODES = {
  job: {
    classOf: (run, row) => run.colour[row],
    colours: (page) => page.jobColours,
    names: () => [],
  },
  difference: {
    classOf: (run, row, page) => difference(run, page.runs[0], row, page.tolerance),
    colours: () => ["same", "earlier", "later", "elsewhere", "new"].map((name) => channels(styled(name))),
    names: () => DIFFERENCE_NAMES,
  },
  wait: {
    classOf: (run, row) => WAIT_LIMITS.filter((limit) => run.wait(row) > limit).length,
    colours: () => WAIT_NAMES.map((_, i) => channels(styled(`wait-${i}`))),
    names: () => WAIT_NAMES,
  },
  state: {
    classOf: (run, row) => run.state[row],
    colours: (page) => page.stateColours,
    names: (page) => page.states,
  },
};
