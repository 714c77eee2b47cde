import { useEffect, useRef, useState } from "react";

import { run } from "../../api/client";
import { Link, navigate } from "../../app/router";
import { duration, plural } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Glyph, type Shape } from "../../ui/Status";
import { Frame } from "./Frame";
import { forgetTrial, stopTrial, testServer, type Step, type Trial } from "./trials";
import { failureTitle, STEPS, TEST } from "./words";

interface Props {
  trial: Trial;
  onClose: () => void;
  /** Somebody wants to change what it runs, or give it a value. */
  onFix: (what: "command" | "value" | "sign-in") => void;
}

/** Each step of a trial with its time; what went wrong, why, and the way out. */
export function TestStep({ trial, onClose, onFix }: Props) {
  const main = useRef<HTMLButtonElement>(null);
  const now = useNow(trial.state === "running");
  const close = () => {
    forgetTrial(trial.name);
    onClose();
  };
  useEffect(() => {
    if (trial.state !== "running") main.current?.focus();
  }, [trial.state]);
  return (
    <Frame
      title={titleOf(trial)}
      first={main}
      onClose={close}
      {...(trial.state === "running" ? { onEscape: () => stopTrial(trial.name) } : {})}
      foot={trial.state === "failed" ? <Failed trial={trial} main={main} close={close} onFix={onFix} /> : <Going trial={trial} main={main} now={now} close={close} />}
    >
      <ol className="steps" aria-live="polite">
        {trial.steps.filter((step) => trial.state !== "failed" || step.state !== "wait").map((step) => (
          <li key={step.key} className={step.state === "wait" ? "wait" : ""}>
            <Glyph shape={SHAPES[step.state]} />
            <span className="b">{STEPS[step.key]}<span className="sr">, {WORDS[step.state]}</span></span>
            <span className="d el" title={step.detail}>{reveal(step.detail)}</span>
            <span className="ms">{timeOf(step, now)}</span>
          </li>
        ))}
      </ol>
      {trial.error && (
        <div className="prob" role="alert">
          <b className="bb">{reveal(trial.error.message)}</b>
          {trial.error.hint && !trial.error.hint.includes("toolcrib logs") && <p>{reveal(trial.error.hint)}</p>}
        </div>
      )}
      {trial.state === "failed" && trial.log.length > 0 && (
        <>
          <p className="m t12" style={{ margin: "12px 0 6px" }}>{TEST.lastLines}</p>
          <pre className="code wrap">{trial.log.map(reveal).join("\n")}</pre>
        </>
      )}
      {trial.review.length > 0 && (
        <ul className="rev">
          {trial.review.map((remark) => <li key={remark} className="q t12">{reveal(remark)}</li>)}
        </ul>
      )}
    </Frame>
  );
}

const SHAPES: Record<Step["state"], Shape> = { wait: "wait", work: "work", done: "done", fail: "fail" };
const WORDS: Record<Step["state"], string> = { wait: "waiting", work: "running", done: "done", fail: "failed" };

function titleOf(trial: Trial): string {
  if (trial.state === "ok") return `${trial.name} works, ${plural(trial.tools, "tool")}`;
  if (trial.state === "stopped") return `Stopped testing ${trial.name}`;
  if (trial.state === "running") return `Testing ${trial.name}`;
  const at = trial.steps.find((step) => step.state === "fail");
  return failureTitle(trial.name, trial.error?.kind ?? "", at?.key ?? "");
}

function timeOf(step: Step, now: number): string {
  if (step.ms !== null) return duration(step.ms);
  return step.state === "work" && step.began !== null ? duration(Math.max(0, now - step.began)) : "";
}

function Going({ trial, main, now, close }: { trial: Trial; main: React.RefObject<HTMLButtonElement | null>; now: number; close: () => void }) {
  const time = duration(Math.max(0, (trial.ended ?? now) - trial.began));
  if (trial.state === "running") {
    return (
      <>
        <span className="grow m t12 num">{time} · {TEST.goesOn}</span>
        <button type="button" className="btn" ref={main} onClick={() => stopTrial(trial.name)}>Stop<kbd>Esc</kbd></button>
      </>
    );
  }
  return (
    <>
      <span className="grow m t12 num" role="status">{trial.state === "ok" ? `All steps done in ${time}` : TEST.stopped}</span>
      {trial.state === "stopped" && <button type="button" className="btn" onClick={() => testServer(trial.name, "")}>{TEST.again}</button>}
      <button type="button" className="btn pri" ref={main} onClick={close}>{TEST.done}</button>
    </>
  );
}

function Failed({ trial, main, close, onFix }: { trial: Trial; main: React.RefObject<HTMLButtonElement | null>; close: () => void; onFix: Props["onFix"] }) {
  const kind = trial.error?.kind ?? "";
  const way = FIXES[kind];
  const admitted = trial.steps.find((step) => step.state === "fail")?.key !== "install";
  async function keepOff(): Promise<void> {
    await run("disable", { name: trial.name }).catch(() => undefined);
    close();
  }
  return (
    <>
      <span className="grow">
        {admitted && <Link className="lk" href={`/servers/${encodeURIComponent(trial.name)}?tab=log`} onClick={() => { close(); navigate(`/servers/${encodeURIComponent(trial.name)}?tab=log`); }}>Open log</Link>}
      </span>
      {admitted ? <button type="button" className="btn" onClick={() => void keepOff()}>{TEST.keepOff}</button> : <button type="button" className="btn" onClick={close}>Close</button>}
      {admitted && (
        <button
          type="button"
          className="btn pri"
          ref={main}
          onClick={() => (way ? (close(), onFix(way.what)) : testServer(trial.name, ""))}
        >
          {way?.words ?? TEST.again}
        </button>
      )}
    </>
  );
}

const FIXES: Record<string, { what: "command" | "value" | "sign-in"; words: string }> = {
  spawn_failed: { what: "command", words: TEST.fix },
  connection_lost: { what: "command", words: TEST.fix },
  start_failed: { what: "command", words: TEST.fix },
  config: { what: "command", words: TEST.fix },
  missing_secret: { what: "value", words: TEST.value },
  missing_variable: { what: "command", words: TEST.fix },
  needs_auth: { what: "sign-in", words: TEST.signIn },
};

function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}
