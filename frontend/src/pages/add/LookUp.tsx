/** What is being looked up before a server is added: the step that the host reports, for how long, and Stop. */

import { useEffect, useState } from "react";

import type { OperationEvent } from "../../api/client";
import { duration } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Glyph } from "../../ui/Status";
import { LOOK_UP } from "./text";

/** One look-up: what the host does now, and how to end it. */
export interface LookingUp {
  words: string;
  stop: () => void;
}

type Progress = OperationEvent<"propose">;

/** "Resolving git: 34 packages" */
export function progressText({ stage, detail, done, total }: Progress): string {
  return `${LOOK_UP.stages[stage]} ${detail}${total > 0 ? `, ${done} of ${total}` : ""}`;
}

export function LookUp({ words, stop }: LookingUp) {
  const [began] = useState(() => Date.now());
  const [now, setNow] = useState(began);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="look-up">
      <Glyph shape="work" />
      <span className="grow secondary" role="status">
        {reveal(words)}
      </span>
      <span className="muted text-small num" aria-hidden="true">
        {duration(now - began)}
      </span>
      <button type="button" className="btn small" onClick={stop}>
        {LOOK_UP.stop}
      </button>
    </div>
  );
}
