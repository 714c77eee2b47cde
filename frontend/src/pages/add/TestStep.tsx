/** Progress and outcome of a test or an installation: each step with its time, error, last log lines, and which button
 * helps with which error ("Set value", "Fix command"). */

import { useEffect, useState } from "react";

import { run } from "../../api/client";
import { Link, navigate } from "../../app/router";
import { duration, spokenTime } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { pageHint } from "../../text/hints";
import { Glyph, type Shape } from "../../ui/Status";
import { NextSteps } from "./NextSteps";
import { StepDialog } from "./StepDialog";
import { forgetSetup, stopSetup, testServer, watch } from "./setups";
import type { Setup, Step } from "./types";
import { firstSentence, neededBy, setupTitle, STEPS, TEST, type Fix } from "./text";

interface Props {
  setup: Setup;
  onClose: () => void;
  /** The user wants to change its command, set a value, sign in, add an account or choose a display. */
  onFix: (what: Fix) => void;
  /** Add another server. */
  onAgain?: () => void;
}

/** Each step with its time; what went wrong, why, and the way out. */
export function TestStep({ setup, onClose, onFix, onAgain }: Props) {
  const now = useNow(setup.state === "running");
  const close = () => {
    forgetSetup(setup.name);
    onClose();
  };
  useEffect(() => watch(setup.name), [setup.name]);
  const [what, why] = firstSentence(setup.error?.message ?? "");
  return (
    <StepDialog
      title={setupTitle(setup)}
      onClose={close}
      foot={
        setup.state === "failed" ? (
          <Failed setup={setup} close={close} onFix={onFix} />
        ) : (
          <Going setup={setup} now={now} close={close} />
        )
      }
    >
      <ol className="steps" aria-live="polite">
        {setup.steps
          .filter((step) => setup.state !== "failed" || step.state !== "wait")
          .map((step) => (
            <li key={step.key} className={step.state === "wait" ? "waiting" : ""}>
              <Glyph shape={SHAPES[step.state]} />
              <span className="medium">
                {STEPS[step.key]}
                <span className="visually-hidden">
                  , {TEXT[step.state]}
                  {step.ms === null ? "" : `, ${spokenTime(step.ms)}`}
                </span>
              </span>
              <span className="step-detail ellipsis" title={step.detail}>
                {reveal(step.state === "fail" ? firstSentence(step.detail)[0] : step.detail)}
              </span>
              <span className="duration" aria-hidden="true">
                {timeOf(step, now)}
              </span>
            </li>
          ))}
      </ol>
      {setup.error && (
        <div className="problem" role="alert">
          <b className="bold">{reveal(what)}</b>
          {why && <p>{reveal(why)}</p>}
          {pageHint(setup.error.hint) && !FIXES[neededBy(setup)] && FIXES[setup.error.kind]?.what !== "value" && (
            <p>{reveal(pageHint(setup.error.hint))}</p>
          )}
        </div>
      )}
      {setup.state === "failed" && setup.log.length > 0 && (
        <>
          <p className="muted text-small log-caption">{TEST.lastLines}</p>
          <pre className="code wrap">{setup.log.map(reveal).join("\n")}</pre>
        </>
      )}
      {setup.review.length > 0 && (
        <ul className="review-notes">
          {setup.review.map((remark) => (
            <li key={remark} className="secondary text-small">
              {reveal(remark)}
            </li>
          ))}
        </ul>
      )}
      {setup.state === "ok" && (setup.kind === "add" || setup.kind === "trust") && (
        <NextSteps
          name={setup.name}
          onClose={close}
          onAgain={onAgain && (() => (forgetSetup(setup.name), onAgain()))}
        />
      )}
    </StepDialog>
  );
}

const SHAPES: Record<Step["state"], Shape> = { wait: "wait", work: "work", done: "done", fail: "fail" };
const TEXT: Record<Step["state"], string> = { wait: "waiting", work: "running", done: "done", fail: "failed" };

function timeOf(step: Step, now: number): string {
  if (step.ms !== null) return duration(step.ms);
  return step.state === "work" && step.began !== null ? duration(Math.max(0, now - Date.parse(step.began))) : "";
}

function Going({ setup, now, close }: { setup: Setup; now: number; close: () => void }) {
  if (setup.state === "running") {
    const time = duration(Math.max(0, now - Date.parse(setup.began)));
    return (
      <>
        <span className="grow muted text-small num">
          {time} · {TEST.goesOn}
        </span>
        <button key="stop" type="button" className="btn" onClick={() => void stopSetup(setup.name)}>
          {TEST.stop}
        </button>
      </>
    );
  }
  const time = duration(setup.steps.reduce((sum, step) => sum + (step.ms ?? 0), 0)); // The sum of the steps above.
  return (
    <>
      <span className="grow muted text-small num" role="status">
        {setup.state === "ok" ? (
          <>
            <span className="visually-hidden">{setupTitle(setup)}. </span>Completed in {time}
          </>
        ) : (
          TEST.stopped
        )}
      </span>
      {setup.state === "stopped" && (
        <button key="again" type="button" className="btn" onClick={() => void testServer(setup.name)}>
          {TEST.again}
        </button>
      )}
      <button key="done" type="button" className="btn primary" onClick={close}>
        {TEST.done}
      </button>
    </>
  );
}

function Failed({ setup, close, onFix }: { setup: Setup; close: () => void; onFix: Props["onFix"] }) {
  const kind = setup.error?.kind ?? "";
  const way = FIXES[neededBy(setup)] ?? FIXES[kind];
  const admitted = setup.steps.find((step) => step.state === "fail")?.key !== "install";
  async function keepOff(): Promise<void> {
    await run("disable", { name: setup.name }).catch(() => undefined);
    close();
  }
  return (
    <>
      <span className="grow">
        {admitted && (
          <Link
            className="link-button"
            href={`/servers/${encodeURIComponent(setup.name)}?tab=log`}
            onClick={() => {
              close();
              navigate(`/servers/${encodeURIComponent(setup.name)}?tab=log`);
            }}
          >
            {TEST.openLog}
          </Link>
        )}
      </span>
      {admitted ? (
        <button key="off" type="button" className="btn" onClick={() => void keepOff()}>
          {TEST.keepOff}
        </button>
      ) : (
        <button key="close" type="button" className="btn" onClick={close}>
          {TEST.close}
        </button>
      )}
      {admitted && (
        <button
          key={way?.words ?? TEST.again}
          type="button"
          className="btn primary"

          onClick={() => (way ? (close(), onFix(way.what)) : void testServer(setup.name))}
        >
          {way?.words ?? TEST.again}
        </button>
      )}
    </>
  );
}

const FIXES: Record<string, { what: Fix; words: string }> = {
  account: { what: "account", words: TEST.account },
  display: { what: "choice", words: TEST.choice },
  spawn_failed: { what: "command", words: TEST.fix },
  connection_lost: { what: "command", words: TEST.fix },
  start_failed: { what: "command", words: TEST.fix },
  config: { what: "command", words: TEST.fix },
  missing_secret: { what: "value", words: TEST.value },
  missing_variable: { what: "value", words: TEST.value },
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
