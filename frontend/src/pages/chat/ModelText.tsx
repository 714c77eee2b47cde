/** The answer of the model as it is streamed, in whole sentences if the system asks for reduced motion, and its folded
 * thinking. */

import { memo, useMemo, useState, useSyncExternalStore } from "react";

import { Icon } from "../../ui/Icon";
import { Markdown } from "../../ui/LazyMarkdown";
import { blocks, sentences } from "./groups";
import type { TextView } from "./view";
import { TEXT } from "./text";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

function useCalm(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      calm.addEventListener("change", watcher);
      return () => calm.removeEventListener("change", watcher);
    },
    () => calm.matches,
  );
}

/** What the model says, as it comes; where motion is not wanted, in whole sentences. */
export const ModelText = memo(function ModelText({ item, writing }: { item: TextView; writing: boolean }) {
  const quiet = useCalm();
  const text = writing && quiet ? sentences(item.text) : item.text;
  const parts = useMemo(() => blocks(text), [text]);
  if (item.kind === "thinking") return <Thought text={text} writing={writing} />;
  return (
    <div className="answer">
      {parts.map((part, index) => (
        <Markdown key={index} text={part} />
      ))}
    </div>
  );
});

function Thought({ text, writing }: { text: string; writing: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <div>
      <button
        type="button"
        className="plain-button muted text-small row"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? "down" : "right"} small />
        {TEXT.thinking}
        {writing ? "…" : ""}
      </button>
      {open && (
        <p className="secondary text-small thinking-text" dir="auto">
          {text}
        </p>
      )}
    </div>
  );
}
