/** The tab Rules: the user's approval rules in the order of the file with their use, turning off, deleting with undo;
 * rules that could not be loaded, and the built-in ones. */

import { useEffect, useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, refreshOn, useOperation } from "../../api/hooks";
import type { Policy, PolicyRule } from "../../api/types";
import { notify } from "../../app/notices";
import { day } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Icon } from "../../ui/Icon";
import { LearnMore } from "../../ui/LearnMore";
import { Loading } from "../../ui/Loading";
import { Menu } from "../../ui/Menu";
import { Glyph } from "../../ui/Status";
import { Switch } from "../../ui/Switch";
import { ErrorBox } from "../../ui/ErrorBox";
import { BUILT_IN_RULES, builtInName } from "../../text/builtInRules";
import { MODE_NAMES } from "../../text/modes";
import { RuleDialog } from "./RuleDialog";
import { refreshRules } from "./refreshRules";
import { RULES, TEXT } from "./text";

refreshOn("call", "policy_list");
refreshOn("calls", "policy_list");
refreshOn("waiting", "policy_list");

/** The user's rules in the order of the file with their use, and the built-in ones. */
export function RulesTab() {
  const { data, error, refetch } = useOperation("policy_list", {});
  const [edited, setEdited] = useState<PolicyRule | "new" | null>(null);
  useEffect(() => void queries.invalidateQueries({ queryKey: ["policy_list"] }), []); // Commands write rules too.
  if (error) return <ErrorBox error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={5} height={60} />;
  return (
    <>
      <div className="row list-intro">
        <p className="secondary grow">{RULES.mode(MODE_NAMES[data.mode])}</p>
        <button type="button" className="btn" onClick={() => setEdited("new")}>
          <Icon name="plus" small /> {RULES.add}
        </button>
      </div>
      {data.rules.length === 0 && data.broken.length === 0 && (
        <p className="empty">
          {RULES.empty} <LearnMore page="approvals.html#your-rules" />
        </p>
      )}
      <ol className="rules" aria-label={TEXT.tabs.rules}>
        {data.rules.map((rule) => (
          <OneRule key={rule.id} rule={rule} onEdit={() => setEdited(rule)} />
        ))}
        {data.broken.map((rule) => (
          <BrokenOne key={rule.id} rule={rule} />
        ))}
      </ol>
      <BuiltIn names={data.built_in} />
      {edited && <RuleDialog rule={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </>
  );
}

/** Done, with a way back; what went wrong is said at the rule. */
async function attempt(
  work: () => Promise<unknown>,
  text: string,
  undo: () => Promise<unknown>,
  onWrong: (why: string) => void,
): Promise<void> {
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
  const turn = (on: boolean) =>
    void attempt(
      () => put(on),
      on ? RULES.turnedOn(rule.number) : RULES.turnedOff(rule.number),
      () => put(!on),
      setWrong,
    );
  const remove = () =>
    void attempt(
      () => run("policy_remove", { id: rule.id }),
      RULES.removed(rule.words),
      () => run("policy_add", { rule: { ...rule } }),
      setWrong,
    );
  return (
    <li className={rule.enabled ? "rule-row" : "rule-row off"} data-rule={rule.id}>
      <span className="row-number num">{rule.number}</span>
      <div className="grow">
        <code>{reveal(rule.words)}</code>
        <p className="muted text-small">
          <span>{reveal(rule.place)}</span>
          <span className="num">{rule.last_used ? TEXT.used(rule.used, day(rule.last_used)) : TEXT.never}</span>
          {rule.asleep !== null && <span>{RULES.asleep(rule.asleep ? day(rule.asleep) : "")}</span>}
          {rule.inactive !== null && <span>{RULES.inactive(reveal(rule.inactive))}</span>}
          {rule.why && <span>“{reveal(rule.why)}”</span>}
        </p>
        {wrong && (
          <p className="text-small error-text" role="alert">
            {reveal(wrong)}
          </p>
        )}
      </div>
      <Switch label={RULES.on(rule.number)} on={rule.enabled} onChange={turn} />
      <Menu
        trigger={
          <button type="button" className="btn bare small icon-only" aria-label={`${RULES.more}: rule ${rule.number}`}>
            <Icon name="dots" small />
          </button>
        }
        entries={[
          { name: RULES.edit, onSelect: onEdit },
          { name: RULES.remove, onSelect: remove, danger: true, apart: true },
        ]}
      />
    </li>
  );
}

function BrokenOne({ rule }: { rule: Policy["broken"][number] }) {
  const [wrong, setWrong] = useState("");
  const remove = () =>
    void run("policy_remove", { id: rule.id }).then(refreshRules, (error: unknown) => setWrong(sentence(error)));
  return (
    <li className="rule-row" data-rule={rule.id}>
      <span className="row-number">
        <Glyph shape="fail" />
      </span>
      <div className="grow">
        <code>{reveal(rule.rule)}</code>
        <p className="text-small error-text">{RULES.notLoaded(reveal(rule.reason))}</p>
        {wrong && (
          <p className="text-small error-text" role="alert">
            {reveal(wrong)}
          </p>
        )}
      </div>
      <button type="button" className="btn small" onClick={remove}>
        {RULES.remove}
      </button>
    </li>
  );
}

function BuiltIn({ names }: { names: readonly string[] }) {
  return (
    <section className="space-above-24" aria-label={RULES.builtIn}>
      <h2 className="text-body">{RULES.builtIn}</h2>
      <ul className="rules">
        {names.map((name) => (
          <li key={name} className="rule-row">
            <span className="row-number" />
            <div className="grow">
              <b className="medium">{builtInName(name)}</b>
              <p className="muted text-small">{BUILT_IN_RULES[name]?.about ?? ""}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
