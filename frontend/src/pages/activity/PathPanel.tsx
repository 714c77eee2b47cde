/** The panel "Call details": what the call was given, its steps, links to chat and log, and the rules for this
 * tool. */

import { useOperation } from "../../api/hooks";
import type { CallPath, Policy, PolicyRule } from "../../api/types";
import { Link, setSearch } from "../../app/router";
import { day } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { outgoing } from "../../ui/outgoing/Outgoing";
import { callState } from "../../ui/states";
import { Glyph, Status } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import { BUILT_IN_RULES } from "../../text/builtInRules";
import { MODE_NAMES } from "../../text/modes";
import { stepsOf } from "./steps";
import { TEXT } from "./text";

/** How one call went, and the rules that speak of such calls. */
export function PathPanel({ id }: { id: string }) {
  const { data, error, refetch } = useOperation("call_path", { call_id: id });
  const { data: policy } = useOperation("policy_list", {});
  if (error)
    return (
      <div className="path">
        <ErrorBox error={error} again={() => void refetch()} />
      </div>
    );
  if (!data)
    return (
      <div className="path">
        <Loading rows={5} height={44} />
      </div>
    );
  const state = callState(data.call.outcome);
  return (
    <>
      <div className="path" data-path={id}>
        <div className="row">
          <h2 className="grow">{TEXT.path}</h2>
          <span className="text-small">
            <Status shape={state.shape} word={state.word} />
          </span>
        </div>
        <Given path={data} />
        <ol>
          {stepsOf(data).map((step, index) => (
            <li key={index}>
              <Glyph shape={step.shape} />
              <b className="bold">{reveal(step.title)}</b>
              <span className="duration">{step.at}</span>
              {step.text && <p>{reveal(step.text)}</p>}
            </li>
          ))}
        </ol>
        <Links path={data} />
      </div>
      <div className="panel-head near-rules">
        <h2 className="grow">{TEXT.near}</h2>
        <button type="button" className="btn bare small" onClick={() => setSearch({ tab: "rules", call: null })}>
          {TEXT.all(policy?.rules.length ?? 0)}
        </button>
      </div>
      {data.rules.map((rule, index) => (
        <NearRule key={rule.id} rule={rule} first={index === 0} />
      ))}
      {data.rules.length === 0 && <p className="secondary text-small no-rules">{TEXT.noneNear}</p>}
      {policy && <Otherwise rule={data.call.gate?.rule ?? ""} policy={policy} />}
    </>
  );
}

/** What the call was given: an email, an event or a message as it looked, else its arguments. */
function Given({ path: { call, exhibit } }: { path: CallPath }) {
  const name = reveal([call.server, call.name].filter(Boolean).join("."));
  const shown = outgoing(exhibit);
  if (shown)
    return (
      <div className="space-above-12">
        <p className="space-below-6">
          <code>{name}</code>
        </p>
        {shown}
      </div>
    );
  return (
    <pre className="code wrap argument-block space-above-12">
      <span>{name}</span>
      <Arguments text={call.arguments} />
    </pre>
  );
}

function Links({ path }: { path: CallPath }) {
  const { call } = path;
  return (
    <p className="row path-links">
      <Link href={`/tools?tool=${encodeURIComponent(call.tool)}`}>{TEXT.again}</Link>
      {call.who.kind === "chat" && call.who.session && (
        <Link href={`/chat/${encodeURIComponent(call.who.session)}`}>Open chat</Link>
      )}
      {call.server && <Link href={`/servers/${encodeURIComponent(call.server)}?tab=log`}>Server log</Link>}
    </p>
  );
}

function Arguments({ text }: { text: string }) {
  const given = parsed(text);
  if (given === null) return <span>{reveal(text)}</span>;
  return Object.entries(given).map(([name, value]) => (
    <span key={name} className="argument">
      <span className="code-key">{reveal(name)}</span>
      <span>{reveal(typeof value === "string" ? value : JSON.stringify(value))}</span>
    </span>
  ));
}

function parsed(text: string): { [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as { [name: string]: unknown })
      : null;
  } catch {
    return null; // Cut.
  }
}

/** What decides where none of the user's rules does: the built-in rule that decided this call, else the mode. */
function Otherwise({ rule, policy }: { rule: string; policy: Policy }) {
  const builtIn = policy.built_in.includes(rule) ? BUILT_IN_RULES[rule] : undefined;
  return (
    <div className="rule">
      <b className="medium">{builtIn ? TEXT.builtInRule(builtIn.name) : TEXT.modeRule(MODE_NAMES[policy.mode])}</b>
      <p className="muted text-small">{builtIn ? builtIn.about : TEXT.modeAbout}</p>
    </div>
  );
}

function NearRule({ rule, first }: { rule: PolicyRule; first: boolean }) {
  return (
    <div className={first ? "rule first-rule" : "rule"}>
      <code>{reveal(rule.words)}</code>
      <p className="muted text-small">
        <span>
          {rule.number} · {reveal(rule.place)}
        </span>
        <span className="num">{rule.last_used ? TEXT.used(rule.used, day(rule.last_used)) : TEXT.never}</span>
      </p>
    </div>
  );
}
