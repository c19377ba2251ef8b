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

function tickText(time, step) {
  const sign = time < 0 ? "−" : "", seconds = Math.abs(time);
  if (!seconds) return "0";
  const days = Math.floor(seconds / DAY + 1e-9), rest = Math.max(0, seconds - days * DAY);
  const pad = (number) => String(number).padStart(2, "0");
  if (step >= DAY) return `${sign}${days.toLocaleString("en-GB").replaceAll(",", "\u202f")} d`;
  const before = days ? `${sign}${days} d ` : sign;
  if (step >= HOUR) return rest >= 1 || !days ? `${before}${Math.round(rest / HOUR)} h` : `${sign}${days} d`;
  if (step >= MINUTE) {
    const minutes = Math.round(rest / MINUTE);
    return days || minutes >= 60 ? `${before}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}` : `${sign}${minutes} min`;
  }
  if (seconds < MINUTE) return `${sign}${Number(seconds.toPrecision(6))} s`;
  if (seconds < HOUR && step >= 1) {
    const whole = Math.round(seconds), minutes = `${sign}${Math.floor(whole / MINUTE)} min`;
    return whole % MINUTE ? `${minutes} ${pad(whole % MINUTE)}` : minutes;
  }
  return `${before}${clockText(rest, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)))}`;
}

function clockText(seconds, digits) {
  const scale = 10 ** digits, whole = Math.round(seconds * scale) / scale;
  const pad = (number) => String(number).padStart(2, "0");
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

/** A duration with its sign, for differences. */
function shift(seconds) {
  return (seconds > 0 ? "+" : "") + duration(seconds);
}

function plural(count, noun) {
  return `${count.toLocaleString("en-GB").replaceAll(",", "\u202f")} ${noun}${count === 1 ? "" : "s"}`;
}

function percent(part) {
  return `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} %`;
}
