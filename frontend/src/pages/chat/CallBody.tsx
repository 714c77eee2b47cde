/** What is inside an open call card: why it failed, arguments, result, Raw JSON, "allowed by", and how much text is
 * shown beside a picture. */

import { useState } from "react";

import { tilde } from "../../text/home";
import { Copy } from "../../ui/Copy";
import { reveal } from "../../ui/hidden";
import { LongText } from "../../ui/LongText";
import { useActions } from "./actions";
import { refusal, ruleName, stoppedText, noteToModel } from "./callText";
import { Pictures } from "./Pictures";
import { ResultText } from "./ResultText";
import { useRules } from "./rules";
import { TimedOut } from "./TimedOut";
import type { CallView } from "./view";
import { useFullResult } from "./fullResult";
import { TEXT } from "./text";

export function CallBody({ call }: { call: CallView }) {
  if (call.outcome === "running" || call.outcome === "waiting") return <Under call={call} />;
  return (
    <div className="card-body">
      <Reason call={call} />
      {call.outcome === "ok" || isLongError(call) ? <Answer call={call} /> : null}
    </div>
  );
}

function Under({ call }: { call: CallView }) {
  return (
    <div className="card-body">
      {call.progress?.message && <p className="secondary text-small mono">{reveal(call.progress.message)}</p>}
      <Given given={call.arguments} />
    </div>
  );
}

function Reason({ call }: { call: CallView }) {
  if (call.outcome === "ok") return call.byHand ? <p className="muted text-small">{TEXT.byHand}</p> : null;
  if (call.outcome === "denied")
    return (
      <div className="reason">
        <span>{deniedText(call)}</span>
      </div>
    );
  if (call.outcome === "interrupted")
    return (
      <div className="reason">
        <span>{TEXT.callInterrupted}</span>
      </div>
    );
  if (call.outcome === "cancelled")
    return (
      <div className="reason">
        <span>{stoppedText(call)}</span>
      </div>
    );
  if (call.outcome === "timeout") return <TimedOut call={call} />;
  if (isLongError(call)) return null;
  const [first = "", ...rest] = call.text.trim().split("\n");
  return (
    <div className="reason">
      <span>
        <b className="medium emphasis">{reveal(first)}</b> {reveal(rest.join(" "))} {TEXT.told}
      </span>
    </div>
  );
}

/** What a tool says of its own failure is mostly a sentence; more than that is shown as a result. */
function isLongError(call: CallView): boolean {
  return call.outcome === "tool_error" && call.chars > 400;
}

function deniedText(call: CallView): string {
  const word = noteToModel(call);
  if (word === null) return reveal(refusal(call.text).reason || call.text);
  return word ? TEXT.yourNote(reveal(word)) : TEXT.deniedWithoutNote;
}

function Answer({ call }: { call: CallView }) {
  const { chat } = useActions();
  const [raw, setRaw] = useState(false);
  const { data, isError } = useFullResult(chat, call);
  const text = data?.whole ?? data?.text ?? call.text;
  const rawCall = { tool: call.tool, arguments: call.arguments, outcome: call.outcome, ms: call.ms, text };
  const beside = call.pictures > 0 ? besidePicture(text) : null;
  return (
    <>
      {beside === null && call.pictures === 0 && <Given given={call.arguments} />}
      {call.pictures > 0 && (
        <Pictures
          pictures={data?.images ?? []}
          expected={call.pictures}
          call={call}
          about={beside ?? ""}
          foot={<Allowed call={call} />}
          onRaw={() => setRaw(!raw)}
        />
      )}
      {beside === null &&
        (text.trim() ? (
          <ResultText
            text={text}
            failed={call.outcome === "tool_error"}
            total={data ? (call.whole ?? undefined) : undefined}
          />
        ) : (
          <p className="muted text-small">{TEXT.nothing}</p>
        ))}
      {isError && <p className="secondary text-small">{TEXT.restMissing}</p>}
      {call.whole !== null && <p className="secondary text-small space-above-8">{TEXT.cut(call.chars, call.whole)}</p>}
      {call.pictures === 0 && (
        <div className="card-foot">
          <Copy bare text={text} />
          <button type="button" className="btn bare small" aria-expanded={raw} onClick={() => setRaw(!raw)}>
            {TEXT.rawJson}
          </button>
          <Allowed call={call} />
        </div>
      )}
      {raw && <LongText text={JSON.stringify(rawCall, null, 2)} label={TEXT.rawJson} />}
    </>
  );
}

const SHORT = 300;

/** The text about a picture if it is short enough to be shown beside it, else null. */
function besidePicture(text: string): string | null {
  const said = text.trim();
  if (/^\((a picture|\d+ pictures)\)$/.test(said)) return "";
  return said.length <= SHORT ? said : null;
}

const SCOPE_WORDS: Record<string, string> = {
  once: "once",
  chat: "for this chat",
  project: "for this project",
  always: "always",
};

/** Who or what allowed the call. */
function Allowed({ call }: { call: CallView }) {
  const rules = useRules(call.rule);
  const { answered, rule } = call;
  const words =
    answered?.action === "accept"
      ? `you, ${SCOPE_WORDS[answered.scope] ?? "once"}`
      : rule === "asked" || rule === "granted"
        ? "you"
        : rule && ruleName(rule, rules);
  return words ? <span className="muted text-small">allowed by {words}</span> : null;
}

/** What a call is given, name by name. */
export function Given({ given }: { given: Record<string, unknown> }) {
  const entries = Object.entries(given);
  if (entries.length === 0) return <p className="muted text-small">{TEXT.noArguments}</p>;
  return (
    <dl className="argument-list" aria-label={TEXT.arguments}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{reveal(name)}</dt>
          <dd>{reveal(typeof value === "string" ? tilde(value) : JSON.stringify(value, null, 1))}</dd>
        </div>
      ))}
    </dl>
  );
}
