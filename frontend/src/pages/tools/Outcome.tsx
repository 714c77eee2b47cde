/** What a tried tool answered: always data, never markup that runs. */

import { useEffect, useState } from "react";

import type { Call, Tried } from "../../api/types";
import { clock, day, duration } from "../../ui/amounts";
import { Copy } from "../../ui/Copy";
import { reveal } from "../../ui/hidden";
import { callState } from "../../ui/states";
import { Status } from "../../ui/Status";
import { ResultText } from "../chat/ResultText";
import type { Ended, Trial } from "./trying";
import { WORDS } from "./words";

/** `last` is what the record has of the last try, for when its answer is not there any more. */
export function Outcome({ trial, last }: { trial: Trial; last: Call | undefined }) {
  if (trial.running) return <Running trial={trial} />;
  if (!trial.ended) return last ? <Recorded call={last} /> : null;
  const { ended } = trial;
  const state = callState(ended.outcome === "tool_error" ? "failed" : ended.outcome);
  return (
    <section aria-label={WORDS.lastResult} data-outcome={ended.outcome}>
      <div className="row">
        <h3 className="grow">{WORDS.lastResult}</h3>
        <span role="status" className="t12"><Status shape={state.shape} word={state.word} /></span>
        <span className="m t12 num">{took(ended.ms)}{when(ended.at)}</span>
      </div>
      <div style={{ marginTop: 8 }}>
        {ended.error && <Failure ended={ended} />}
        {ended.outcome === "cancelled" && <p className="q">{WORDS.stopped}</p>}
        {ended.result && <Contents result={ended.result} failed={ended.outcome !== "ok"} />}
      </div>
    </section>
  );
}

function Recorded({ call }: { call: Call }) {
  const state = callState(call.outcome === "tool_error" ? "failed" : call.outcome);
  return (
    <section aria-label={WORDS.lastResult} data-outcome={call.outcome}>
      <div className="row">
        <h3 className="grow">{WORDS.lastResult}</h3>
        <span className="t12"><Status shape={state.shape} word={state.word} /></span>
        <span className="m t12 num">{took(call.ms)}{when(new Date(call.time))}</span>
      </div>
      <p className="q t12" style={{ marginTop: 8 }}>{call.error ? reveal(call.error.replace(/^[a-z_]+: /, "")) : WORDS.notKept}</p>
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
    <div className={ended.outcome === "denied" ? "q" : "trouble"} role="alert">
      <p><b>{reveal(ended.error?.message ?? "")}</b> {reveal(ended.error?.hint ?? "")}</p>
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
    <section aria-label={WORDS.result}>
      <div className="row">
        <h3 className="grow">{WORDS.result}</h3>
        <span role="status" className="t12"><Status shape={asks ? "need" : "work"} word={asks ? "Asking" : "Running"} /></span>
        <span className="m t12 num">
          {progress?.total ? `${progress.progress} of ${progress.total} · ` : ""}
          {trial.question ? "" : duration(Math.max(1, now - trial.since))}
        </span>
      </div>
      {share !== null && <div className="bar" style={{ marginTop: 8, height: 2 }}><i style={{ width: `${Math.round(share * 100)}%` }} /></div>}
      {progress?.message && <p className="q t12" style={{ marginTop: 8 }}>{reveal(progress.message)}</p>}
    </section>
  );
}

type Content = Tried["result"]["content"][number];

function Contents({ result, failed }: { result: Tried["result"]; failed: boolean }) {
  const structured = result.structuredContent;
  const text = structured !== undefined && structured !== null ? JSON.stringify(structured) : null;
  const texts = result.content.filter((one) => one["type"] !== "image");
  const shownAsData = text !== null && !failed; // Its texts say the same again.
  return (
    <div className="p-chat" style={{ display: "contents" }}>
      {shownAsData && <ResultText text={text} failed={false} />}
      {result.content.map((one, index) => {
        if (one["type"] === "image") return <Picture key={index} content={one} />;
        return !shownAsData && <ResultText key={index} text={textOf(one)} failed={failed} />;
      })}
      <div className="row" style={{ marginTop: 8, marginLeft: -9 }}>
        <Copy bare text={text ?? texts.map(textOf).join("\n")} />
        <Copy bare text={JSON.stringify(result, null, 2)} label="Copy raw JSON" />
      </div>
    </div>
  );
}

function textOf(content: Content): string {
  return typeof content["text"] === "string" ? content["text"] : JSON.stringify(content, null, 2);
}

const PICTURE = /^image\/(png|jpeg|gif|webp)$/;

function Picture({ content }: { content: Content }) {
  const mime = String(content["mimeType"] ?? "");
  if (!PICTURE.test(mime) || typeof content["data"] !== "string") return null;
  return <img alt="What the tool showed" src={`data:${mime};base64,${content["data"]}`} style={{ maxWidth: "100%", border: "1px solid var(--line)", borderRadius: 6, marginBottom: 8 }} />;
}
