/** The frame of one step of Welcome: state, title, action, and "Step 2 of 4" for a screen reader. */

import type { ReactNode } from "react";

import { Glyph, type Shape } from "../../ui/Status";

interface Props {
  number: number;
  shape: Shape;
  title: string;
  children: ReactNode;
  /** What can be done, on the right. */
  action?: ReactNode;
  /** Content below, as wide as the step. */
  below?: ReactNode;
}

const SAID: Partial<Record<Shape, string>> = { done: "done", need: "needs you", fail: "failed", work: "in progress" };

/** One step, with its state as a shape and, for a reader, in words. */
export function Step({ number, shape, title, children, action, below }: Props) {
  return (
    <li className="step">
      <Glyph shape={shape} />
      <div>
        <h2>
          <span className="visually-hidden">
            Step {number} of 4, {SAID[shape] ?? "optional"}:{" "}
          </span>
          {title}
        </h2>
        <div className="step-about">{children}</div>
      </div>
      <span className="step-action">{action}</span>
      {below}
    </li>
  );
}
