/** Durations, times, dates, counts, sizes and money as all pages write them: 8 s, 3 h 12 min, yesterday, 2 Oct, 21.4k,
 * $0.05. */

export function duration(ms: number): string {
  if (ms < 1) return "< 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}

export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 100_000) return `${(value / 1000).toFixed(1)}k`;
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** 1 token, 21.4k tokens. */
export function tokens(value: number): string {
  return `${count(value)} ${value === 1 ? "token" : "tokens"}`;
}

/** A time as it is read aloud. */
export function spokenTime(ms: number): string {
  if (ms < 1000) return plural(Math.max(1, Math.round(ms)), "millisecond");
  return `${(ms / 1000).toFixed(1)} seconds`;
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1_000_000) return `${Math.round(value / 1000)} KB`;
  return `${(value / 1_000_000).toFixed(1)} MB`;
}

export function money(value: number): string {
  if (value === 0) return "$0.00";
  return value < 0.01 ? "< $0.01" : `$${value.toFixed(2)}`;
}

export function clock(when: string | Date): string {
  return new Date(when).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

export function clockSeconds(when: string | Date): string {
  return new Date(when).toLocaleTimeString("en-GB");
}

const DAY = 86_400_000;

/** 09:45 today, yesterday, Thu within a week, else 2 Oct. */
export function day(when: string | Date, now: Date = new Date()): string {
  const then = new Date(when);
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  if (then.getTime() >= midnight) return clock(then);
  if (then.getTime() >= midnight - DAY) return "yesterday";
  if (then.getTime() >= midnight - 6 * DAY) return then.toLocaleDateString("en-GB", { weekday: "short" });
  const date = then.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return then.getFullYear() === now.getFullYear() ? date : `${date} ${then.getFullYear()}`;
}

/** 14:05 today, yesterday 14:05, 2 Oct 14:05; also for what is to come. */
export function dayAndTime(when: string | Date, now: Date = new Date()): string {
  const then = new Date(when);
  if (then.toDateString() === now.toDateString()) return clock(then);
  const ahead = then.toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short" });
  return `${then > now ? ahead : day(then, now)} ${clock(then)}`;
}

/** just now, 2 min ago; after an hour as `day` has it. */
export function ago(when: string | Date, now: Date = new Date()): string {
  const minutes = Math.floor((now.getTime() - new Date(when).getTime()) / 60_000);
  if (minutes < 1) return "just now";
  return minutes < 60 ? `${minutes} min ago` : day(when, now);
}

/** How many characters a text has, as the host counts them: those outside the basic plane are one each. */
export function characters(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

/** 1,204. */
export function thousands(value: number): string {
  return value.toLocaleString("en-US");
}

export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${thousands(amount)} ${amount === 1 ? one : many}`;
}
