import { useOperation } from "../../api/hooks";
import type { CallPath, PolicyRule } from "../../api/types";
import { Link, setSearch } from "../../app/router";
import { day } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { callState } from "../../ui/states";
import { Glyph, Status } from "../../ui/Status";
import { Trouble } from "../../ui/Trouble";
import { MODES } from "./callWords";
import { stepsOf } from "./steps";
import { WORDS } from "./words";

/** How one call went, and the rules that speak of such calls. */
export function PathPanel({ id }: { id: string }) {
  const { data, error, refetch } = useOperation("call_path", { call_id: id });
  const { data: policy } = useOperation("policy_list", {});
  if (error) return <div className="path"><Trouble error={error} again={() => void refetch()} /></div>;
  if (!data) return <div className="path"><Loading rows={5} height={44} /></div>;
  const state = callState(data.call.outcome);
  return (
    <>
      <div className="path" data-path={id}>
        <div className="row">
          <h2 className="grow">{WORDS.path}</h2>
          <span className="t12"><Status shape={state.shape} word={state.word} /></span>
        </div>
        <pre className="code wrap args" style={{ marginTop: 12 }}>
          <span>{reveal([data.call.server, data.call.name].filter(Boolean).join("."))}</span>
          <Arguments text={data.call.arguments} />
        </pre>
        <ol>
          {stepsOf(data).map((step, index) => (
            <li key={index}>
              <Glyph shape={step.shape} />
              <b className="bb">{reveal(step.title)}</b>
              <span className="ms">{step.at}</span>
              {step.text && <p>{reveal(step.text)}</p>}
            </li>
          ))}
        </ol>
        <Links path={data} />
      </div>
      <div className="hd near">
        <h2 className="grow">{WORDS.near}</h2>
        <button type="button" className="btn bare sm" onClick={() => setSearch({ tab: "rules", call: null })}>{WORDS.all(policy?.rules.length ?? 0)}</button>
      </div>
      {data.rules.map((rule, index) => <NearRule key={rule.id} rule={rule} first={index === 0} />)}
      {data.rules.length === 0 && <p className="q t12" style={{ padding: "12px 18px" }}>{WORDS.noneNear}</p>}
      {policy && <div className="rule"><code>{policy.mode === "off" ? "allow" : policy.mode === "on_rule" ? "allow" : "ask"} {data.call.server ?? ""}{data.call.server ? ".*" : data.call.name}</code><p className="m t12"><span>{WORDS.fromMode(MODES[policy.mode])}</span></p></div>}
    </>
  );
}

function Links({ path }: { path: CallPath }) {
  const { call } = path;
  return (
    <p className="row" style={{ gap: 14 }}>
      <Link href={`/tools?tool=${encodeURIComponent(call.tool)}`}>{WORDS.again}</Link>
      {call.who.kind === "chat" && call.who.session && <Link href={`/chat/${encodeURIComponent(call.who.session)}`}>Open the chat</Link>}
      {call.server && <Link href={`/servers/${encodeURIComponent(call.server)}?tab=log`}>Its server's log</Link>}
    </p>
  );
}

function Arguments({ text }: { text: string }) {
  const given = parsed(text);
  if (given === null) return <span>{reveal(text)}</span>;
  return Object.entries(given).map(([name, value]) => (
    <span key={name} className="arg">
      <span className="c-k">{reveal(name)}</span>
      <span>{reveal(typeof value === "string" ? value : JSON.stringify(value))}</span>
    </span>
  ));
}

function parsed(text: string): { [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as { [name: string]: unknown }) : null;
  } catch {
    return null; // Cut.
  }
}

function NearRule({ rule, first }: { rule: PolicyRule; first: boolean }) {
  return (
    <div className="rule" style={first ? { border: 0 } : {}}>
      <code>{reveal(rule.words)}</code>
      <p className="m t12">
        <span>{rule.number} · {reveal(rule.place)}</span>
        <span className="num">{rule.last_used ? WORDS.used(rule.used, day(rule.last_used)) : WORDS.never}</span>
      </p>
    </div>
  );
}
