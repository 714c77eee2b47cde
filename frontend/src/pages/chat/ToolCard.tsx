/** The card of a call: header with state, arguments and time, which cards open by themselves, Stop, "Run again",
 * progress bar, keys o, r, c. Its header keeps its place and height. */

import { memo, useEffect, useState, type KeyboardEvent } from "react";

import { Icon } from "../../ui/Icon";
import { useSettled } from "../../ui/settled";
import { Status } from "../../ui/Status";
import { CallBody } from "./CallBody";
import { inOneLine, spoken, stateOf, tookText } from "./callText";
import { useActions } from "./actions";
import { useRules } from "./rules";
import type { CallView } from "./view";
import { TEXT } from "./text";
import "./cards.css";

/** A call and its state; its header keeps its place and its height through all of them. */
export const ToolCard = memo(function ToolCard({ call, after = 0 }: { call: CallView; after?: number }) {
  const [choice, setChoice] = useState<boolean | null>(null);
  const { again, busy } = useActions();
  const rules = useRules(call.rule);
  const open = choice ?? opensByItself(call);
  const waiting = call.outcome === "waiting";
  const running = call.outcome === "running" || waiting;
  const settled = useSettled(running); // The call may end just as its Stop is pressed.
  const shown = stateOf(call);
  function keys(event: KeyboardEvent) {
    if (event.target !== event.currentTarget) return;
    if (event.key === "o" || event.key === "Enter") setChoice(!open);
    else if (event.key === "r" && !running && !busy) again(call);
    else if (event.key === "c") void navigator.clipboard.writeText(call.text);
    else return;
    event.preventDefault();
  }
  return (
    <article
      className="tool-card"
      aria-label={spoken(call)}
      tabIndex={0}
      onKeyDown={keys}
      data-call={call.id}
      data-tool={call.tool}
      data-outcome={call.outcome}
    >
      <div
        className="card-head"
        onClick={(event) =>
          !(event.target as Element).closest("button") && !getSelection()?.toString() && setChoice(!open)
        }
      >
        <Status shape={shown.shape} word={shown.word} />
        <i className="line-break" />
        <span className="tool-name">
          {call.server !== null && <i>{call.server} · </i>}
          {call.name}
        </span>
        <span className="call-summary ellipsis grow">{inOneLine(call.arguments)}</span>
        <span className="call-time">
          {running && !waiting ? <Clock call={call} /> : tookText(call, 0, rules, after)}
        </span>
        {running ? (
          <StopCall call={call} />
        ) : (
          <button
            type="button"
            className="btn bare small icon-only hide-narrow"
            aria-label={TEXT.runAgain}
            disabled={busy}
            aria-disabled={!settled}
            onClick={() => settled && again(call)}
          >
            <Icon name="again" small />
          </button>
        )}
        <button
          type="button"
          className="btn bare small icon-only"
          aria-label={TEXT.details}
          aria-expanded={open}
          onClick={() => setChoice(!open)}
        >
          <Icon name={open ? "down" : "right"} small />
        </button>
      </div>
      {running && <Bar call={call} />}
      {open && <CallBody call={call} />}
    </article>
  );
});

function opensByItself(call: CallView): boolean {
  return call.pictures > 0 || !["ok", "running", "waiting"].includes(call.outcome);
}

/** Ends this card alone. */
function StopCall({ call }: { call: CallView }) {
  const { stopCall } = useActions();
  const [asked, setAsked] = useState(false);
  function stop() {
    setAsked(true);
    void stopCall(call).then(() => setAsked(false));
  }
  return (
    <button
      type="button"
      className="btn bare small"
      aria-label={`${TEXT.stop} ${call.name}`}
      disabled={asked}
      onClick={stop}
    >
      {TEXT.stop}
    </button>
  );
}

function Bar({ call }: { call: CallView }) {
  const { progress } = call;
  if (!progress?.total) return null;
  const part = Math.min(100, Math.max(0, (progress.done / progress.total) * 100));
  return (
    <div className="bar call-progress" role="progressbar" aria-valuenow={Math.round(part)} aria-label={call.name}>
      <i style={{ width: `${part}%` }} />
    </div>
  );
}

/** Seconds go by without anything else being drawn anew. */
function Clock({ call }: { call: CallView }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <>{tookText(call, now)}</>;
}
