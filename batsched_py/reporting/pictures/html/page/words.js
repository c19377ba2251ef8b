// Times and numbers as people read them.

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const STEPS = [
  1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
];

function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-12));
}

/** The smallest round time, in seconds, that is at least `least`. */
function tickStep(least) {
  if (!(least > 1)) return least > 0 ? roundStep(least) : 1;
  return STEPS.find((step) => step >= least) ?? DAY * roundStep(least / DAY);
}

/** Marks of a time axis: positions in seconds, and what stands there, to the unit that the step asks for. */
function timeTicks(begin, end, most) {
  const step = tickStep((end - begin) / Math.max(most, 1));
  const marks = [];
  for (let i = Math.ceil(begin / step - 1e-9); i * step <= end * (1 + 1e-12); i++) {
    marks.push({ time: i * step, text: tickText(i * step, step) });
  }
  return marks;
}

function pad(number) {
  return String(number).padStart(2, "0");
}

/** "3 d 04:05" is told to the unit of the step: hours, minutes, seconds or parts of them. */
function tickText(time, step) {
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const seconds = Number(Math.abs(time).toFixed(digits)), days = Math.floor(seconds / DAY), rest = seconds - days * DAY;
  if (!seconds) return "0";
  const before = (time < 0 ? "−" : "") + (days ? `${plainCount(days)} d` : "");
  if (days && rest < Math.min(step, 1) / 2) return before;
  return before + (days ? " " : "") + restText(rest, step, digits, seconds >= HOUR);
}

/** What is left of a day; as on a clock if `long`. */
function restText(seconds, step, digits, long) {
  if (step >= HOUR) return `${Math.round(seconds / HOUR)} h`;
  const clock = clockText(seconds, digits);
  if (long) return step >= MINUTE ? clock.slice(0, 5) : clock;
  if (seconds < MINUTE) return `${seconds.toFixed(digits)} s`;
  const [, minutes, parts] = clock.split(":");
  return Number(parts) ? `${Number(minutes)} min ${parts}` : `${Number(minutes)} min`;
}

function plainCount(number) {
  return number.toLocaleString("en-GB").replaceAll(",", "\u202f");
}

function clockText(seconds, digits) {
  const scale = 10 ** digits, whole = Math.round(seconds * scale) / scale;
  const rest = (whole % 60).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  return `${pad(Math.floor(whole / HOUR))}:${pad(Math.floor((whole % HOUR) / 60))}:${rest}`;
}

/** A time or a duration: "12.5 s", "00:10:00", "3 d 04:05:06". */
function duration(seconds) {
  const sign = seconds < 0 ? "−" : "", size = Math.abs(seconds);
  if (size < MINUTE) return `${sign}${Number(size.toFixed(size < 1 ? 3 : 2))} s`;
  const whole = Math.round(size), days = Math.floor(whole / DAY);
  return `${sign}${days ? `${days} d ` : ""}${clockText(whole % DAY, 0)}`;
}

function plural(count, noun) {
  return `${plainCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
