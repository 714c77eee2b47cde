/** The result of a tool that was tried: time, error, text and pictures without repetitions, copy. Always data, never
 * markup that runs. */

import { useEffect, useState } from "react";

import type { Call, Tried } from "../../api/types";
import { clock, day, duration } from "../../ui/amounts";
import { Copy } from "../../ui/Copy";
import { reveal } from "../../ui/hidden";
import { callState } from "../../ui/states";
import { Status } from "../../ui/Status";
import { ResultText } from "../chat/ResultText";
import type { Ended } from "./keptResults";
import type { Trial } from "./toolRun";
import { TEXT } from "./text";

/** `last` is what the record has of the last try, for when its answer is not there any more. */
export function Outcome({ trial, last }: { trial: Trial; last: Call | undefined }) {
  if (trial.running) return <Running trial={trial} />;
  if (!trial.ended) return last ? <Recorded call={last} /> : null;
  const { ended } = trial;
  const state = callState(ended.outcome === "tool_error" ? "failed" : ended.outcome);
  return (
    <section aria-label={TEXT.lastResult} data-outcome={ended.outcome}>
      <div className="row">
        <h3 className="grow">{TEXT.lastResult}</h3>
        <span role="status" className="text-small">
          <Status shape={state.shape} word={state.word} />
        </span>
        <span className="muted text-small num">
          {took(ended.ms)}
          {when(ended.at)}
        </span>
      </div>
      <div className="space-above-8">
        {ended.error && <Failure ended={ended} />}
        {ended.outcome === "cancelled" && <p className="secondary">{TEXT.stopped}</p>}
        {ended.result && <Contents result={ended.result} failed={ended.outcome !== "ok"} />}
      </div>
    </section>
  );
}

function Recorded({ call }: { call: Call }) {
  const state = callState(call.outcome === "tool_error" ? "failed" : call.outcome);
  return (
    <section aria-label={TEXT.lastResult} data-outcome={call.outcome}>
      <div className="row">
        <h3 className="grow">{TEXT.lastResult}</h3>
        <span className="text-small">
          <Status shape={state.shape} word={state.word} />
        </span>
        <span className="muted text-small num">
          {took(call.ms)}
          {when(new Date(call.time))}
        </span>
      </div>
      <p className="secondary text-small space-above-8">
        {call.error ? reveal(call.error.replace(/^[a-z_]+: /, "")) : TEXT.notKept}
      </p>
    </section>
  );
}

/** Nothing for a call that never ran. */
function took(ms: number): string {
  return ms > 0 ? `${duration(ms)} · ` : "";
}

function when(at: Date): string {
  const shown = day(at);
  return shown === clock(at) && Date.now() - at.getTime() < 60_000 ? "just now" : shown;
}

function Failure({ ended }: { ended: Ended }) {
  return (
    <div className={ended.outcome === "denied" ? "secondary" : "error-box"} role="alert">
      <p>
        <b>{reveal(ended.error?.message ?? "")}</b> {reveal(ended.error?.hint ?? "")}
      </p>
    </div>
  );
}

function Running({ trial }: { trial: Trial }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const { progress } = trial;
  const asks = trial.question !== null || trial.serverQuestion !== null;
  const share = progress?.total ? Math.min(1, progress.progress / progress.total) : null;
  return (
    <section aria-label={TEXT.result}>
      <div className="row">
        <h3 className="grow">{TEXT.result}</h3>
        <span role="status" className="text-small">
          <Status shape={asks ? "need" : "work"} word={asks ? "Asking" : "Running"} />
        </span>
        <span className="muted text-small num">
          {progress?.total ? `${progress.progress} of ${progress.total} · ` : ""}
          {trial.question ? "" : duration(Math.max(1, now - trial.since))}
        </span>
      </div>
      {share !== null && (
        <div className="bar try-progress">
          <i style={{ width: `${Math.round(share * 100)}%` }} />
        </div>
      )}
      {progress?.message && <p className="secondary text-small space-above-8">{reveal(progress.message)}</p>}
    </section>
  );
}

type Content = Tried["result"]["content"][number];

function Contents({ result, failed }: { result: Tried["result"]; failed: boolean }) {
  const data = result.structuredContent ? JSON.stringify(result.structuredContent) : "";
  const texts = result.content.filter((one) => !isPicture(one)).map(textOf);
  const added = data && !texts.some((text) => compact(text) === data) ? data : "";
  const shown = result.content.filter((one) => isPicture(one) || !repeats(textOf(one), added));
  const said = shown.filter((one) => !isPicture(one)).map(textOf);
  return (
    <div className="page-chat contents">
      {added && !failed && <ResultText text={added} failed={false} />}
      {shown.map((one, index) =>
        isPicture(one) ? (
          <Picture key={index} content={one} />
        ) : (
          <ResultText key={index} text={textOf(one)} failed={failed} />
        ),
      )}
      {added && failed && <ResultText text={added} failed />}
      {!added && shown.length === 0 && <p className="muted text-small">{TEXT.nothing}</p>}
      <div className="row result-actions">
        <Copy bare text={[...(added ? [added] : []), ...said].join("\n")} />
        <Copy bare text={JSON.stringify(result, null, 2)} label="Copy raw JSON" />
      </div>
    </div>
  );
}

/** Whether a text is empty, or says again what is in the data: all of it, one of its values or items. */
function repeats(text: string, data: string): boolean {
  const same = compact(text);
  return !text.trim() || data.includes(JSON.stringify(text)) || (same !== null && data.includes(same));
}

/** JSON without spaces; null for another text. */
function compact(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return null;
  }
}

function textOf(content: Content): string {
  return typeof content["text"] === "string" ? content["text"] : JSON.stringify(content, null, 2);
}

function isPicture(content: Content): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(String(content["mimeType"])) && content["type"] === "image";
}

function Picture({ content }: { content: Content }) {
  const address = `data:${String(content["mimeType"])};base64,${String(content["data"])}`;
  return <img className="result-image" alt="Image from the tool" src={address} />;
}
