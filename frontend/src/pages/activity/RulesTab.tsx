import { useEffect, useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, refreshOn, useOperation } from "../../api/hooks";
import type { Policy, PolicyRule } from "../../api/types";
import { notify } from "../../app/notices";
import { day } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { Menu } from "../../ui/Menu";
import { Glyph } from "../../ui/Status";
import { Switch } from "../../ui/Switch";
import { Trouble } from "../../ui/Trouble";
import { MODES } from "./callWords";
import { RuleDialog } from "./RuleDialog";
import { BUILT_IN, RULES, WORDS } from "./words";

refreshOn("call", "policy_list");
refreshOn("calls", "policy_list");
refreshOn("waiting", "policy_list");

export function refreshRules(): void {
  void queries.invalidateQueries({ predicate: ({ queryKey }) => ["policy_list", "policy_explain", "call_path", "rank", "find_tools", "tool_show"].includes(String(queryKey[0])) });
}

/** The person's rules as they stand in the file, what each did, and those that come with Toolcrib. */
export function RulesTab() {
  const { data, error, refetch } = useOperation("policy_list", {});
  const [edited, setEdited] = useState<PolicyRule | "new" | null>(null);
  useEffect(() => void queries.invalidateQueries({ queryKey: ["policy_list"] }), []); // Commands write rules too.
  if (error) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={5} height={60} />;
  return (
    <>
      <div className="row" style={{ margin: "14px 0 6px" }}>
        <p className="q grow">{RULES.mode(MODES[data.mode])}</p>
        <button type="button" className="btn" onClick={() => setEdited("new")}><Icon name="plus" small /> {RULES.add}</button>
      </div>
      {data.rules.length === 0 && data.broken.length === 0 && <p className="empty">{RULES.empty}</p>}
      <ol className="rules" aria-label={WORDS.tabs.rules}>
        {data.rules.map((rule) => <OneRule key={rule.id} rule={rule} onEdit={() => setEdited(rule)} />)}
        {data.broken.map((rule) => <BrokenOne key={rule.id} rule={rule} />)}
      </ol>
      <BuiltIn names={data.built_in} />
      {edited && <RuleDialog rule={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </>
  );
}

/** Done, with a way back; what went wrong is said at the rule. */
async function attempt(work: () => Promise<unknown>, text: string, undo: () => Promise<unknown>, onWrong: (why: string) => void): Promise<void> {
  onWrong("");
  try {
    await work();
    notify(text, () => void undo().then(refreshRules, (error: unknown) => notify(sentence(error))));
  } catch (error) {
    onWrong(sentence(error));
  }
  refreshRules();
}

function OneRule({ rule, onEdit }: { rule: PolicyRule; onEdit: () => void }) {
  const [wrong, setWrong] = useState("");
  const put = (enabled: boolean) => run("policy_switch", { id: rule.id, enabled });
  const turn = (on: boolean) => void attempt(() => put(on), on ? RULES.turnedOn(rule.number) : RULES.turnedOff(rule.number), () => put(!on), setWrong);
  const remove = () => void attempt(() => run("policy_remove", { id: rule.id }), RULES.removed(rule.words), () => run("policy_add", { rule: { ...rule } }), setWrong);
  return (
    <li className={rule.enabled ? "rl" : "rl off"} data-rule={rule.id}>
      <span className="no num">{rule.number}</span>
      <div className="grow">
        <code>{reveal(rule.words)}</code>
        <p className="m t12">
          <span>{reveal(rule.place)}</span>
          <span className="num">{rule.last_used ? WORDS.used(rule.used, day(rule.last_used)) : WORDS.never}</span>
          {rule.asleep !== null && <span>{RULES.asleep(rule.asleep ? day(rule.asleep) : "")}</span>}
          {rule.why && <span>“{reveal(rule.why)}”</span>}
        </p>
        {wrong && <p className="t12 wrong" role="alert">{reveal(wrong)}</p>}
      </div>
      <Switch label={RULES.on(rule.number)} on={rule.enabled} onChange={turn} />
      <Menu
        trigger={<button type="button" className="btn bare sm ic" aria-label={`${RULES.more}: rule ${rule.number}`}><Icon name="dots" small /></button>}
        entries={[{ name: RULES.edit, onSelect: onEdit }, { name: RULES.remove, onSelect: remove, danger: true, apart: true }]}
      />
    </li>
  );
}

function BrokenOne({ rule }: { rule: Policy["broken"][number] }) {
  const [wrong, setWrong] = useState("");
  const remove = () => void run("policy_remove", { id: rule.id }).then(refreshRules, (error: unknown) => setWrong(sentence(error)));
  return (
    <li className="rl" data-rule={rule.id}>
      <span className="no"><Glyph shape="fail" /></span>
      <div className="grow">
        <code>{reveal(rule.rule)}</code>
        <p className="t12 wrong">{RULES.notLoaded(reveal(rule.reason))}</p>
        {wrong && <p className="t12 wrong" role="alert">{reveal(wrong)}</p>}
      </div>
      <button type="button" className="btn sm" onClick={remove}>{RULES.remove}</button>
    </li>
  );
}

function BuiltIn({ names }: { names: readonly string[] }) {
  return (
    <section aria-label={RULES.builtIn} style={{ marginTop: 24 }}>
      <h2 style={{ fontSize: "var(--t-13)" }}>{RULES.builtIn}</h2>
      <ul className="rules">
        {names.map((name) => (
          <li key={name} className="rl">
            <span className="no" />
            <div className="grow"><code>{name.replaceAll("_", " ")}</code><p className="m t12">{BUILT_IN[name] ?? ""}</p></div>
          </li>
        ))}
      </ul>
    </section>
  );
}
