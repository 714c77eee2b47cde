/** The box around what is to be approved, with "Scroll through all of it first.": buttons work only after both its
 * beginning and its end were in view. It is bounded, so that the question stays beside it. */

import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from "react";

import "./whole.css";

interface Props {
  label: string;
  /** Called once the whole was in view. */
  onSeen: () => void;
  children: ReactNode;
}

export const SEE_ALL = { showAll: "Show all", first: "Scroll through all of it first." };

export function Whole({ label, onSeen, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [all, setAll] = useState(false);
  const [long, setLong] = useState(false);
  const seen = useEffectEvent(onSeen);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    if (all) element.scrollIntoView({ block: "start" }); // Else a thread that follows its end would skip to it.
    const ends = [...element.querySelectorAll(":scope > .whole-end")];
    const unseen = new Set<Element>(ends);
    const views = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) if (entry.intersectionRatio >= 0.5) unseen.delete(entry.target);
        if (unseen.size > 0) return;
        views.disconnect();
        seen();
      },
      { threshold: 0.5 },
    );
    for (const end of ends) views.observe(end);
    const sizes = new ResizeObserver(() => setLong(element.scrollHeight > element.clientHeight + 1));
    for (const one of [element, ...element.children]) sizes.observe(one);
    return () => {
      views.disconnect();
      sizes.disconnect();
    };
  }, [all]);
  return (
    <>
      <div ref={box} className={all ? "whole all" : "whole"} role="group" aria-label={label} tabIndex={long ? 0 : -1}>
        <i className="whole-end" />
        {children}
        <i className="whole-end" />
      </div>
      {long && !all && (
        <p className="text-small space-above-6">
          <button type="button" className="plain-button link-button" onClick={() => setAll(true)}>
            {SEE_ALL.showAll}
          </button>
        </p>
      )}
    </>
  );
}
