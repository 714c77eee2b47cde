/** The small bar chart of calls in 24 hours in a server's row; failed ones are red. */

import { plural } from "../../ui/amounts";
import type { Glance } from "./model";

type Bar = Glance["bars"][number];

const HIGHEST = 16;

/** The calls of 24 hours, an hour a bar; what failed is red. `most` is the highest bar in view. */
export function CallBars({ bars, most }: { bars: Glance["bars"]; most: number }) {
  const calls = bars.reduce((sum, bar) => sum + bar.calls, 0);
  const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
  return (
    <>
      <svg className="call-bars" width="95" height="18" viewBox="0 0 95 18" aria-hidden="true">
        <path fill="var(--line-2)" d={drawn(bars, (bar) => (bar.calls === 0 ? 1 : 0))} />
        <path fill="var(--ink-3)" d={drawn(bars, (bar) => heightOf(bar, most))} />
        {failed > 0 && <path fill="var(--fail-g)" d={drawn(bars, (bar) => redOf(bar, most))} />}
      </svg>
      <span className="visually-hidden">
        {plural(calls, "call")}
        {failed > 0 ? `, ${failed} failed` : ""}
      </span>
    </>
  );
}

function heightOf(bar: Bar, most: number): number {
  return bar.calls === 0 ? 0 : Math.max(2, Math.round(Math.sqrt(bar.calls / Math.max(1, most)) * HIGHEST));
}

function redOf(bar: Bar, most: number): number {
  return bar.failed === 0 ? 0 : Math.max(2, Math.round((bar.failed / bar.calls) * heightOf(bar, most)));
}

/** All bars as one shape: a list of servers has many of them. */
function drawn(bars: readonly Bar[], height: (bar: Bar) => number): string {
  return bars.map((bar, index) => (height(bar) ? `M${index * 4} 18v-${height(bar)}h3v${height(bar)}z` : "")).join("");
}
