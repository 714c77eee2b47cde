/** The form that adds or edits an approval rule: effect, server, tool, conditions on arguments, folder, reason. The
 * host checks and stores the rule. */

import { useId, useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { usePages } from "../../api/hooks";
import type { PolicyRule } from "../../api/types";
import { notify } from "../../app/notices";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Segments } from "../../ui/Segments";
import { draftOf, ruleOf, type Condition, type RuleDraft } from "./ruleDraft";
import { refreshRules } from "./refreshRules";
import { RULES } from "./text";

/** A rule to add or to change; it is checked before it is kept. */
export function RuleDialog({ rule, onClose }: { rule: PolicyRule | null; onClose: () => void }) {
  const [draft, setDraft] = useState<RuleDraft>(() => draftOf(rule));
  const [trouble, setTrouble] = useState("");
  const id = useId();
  const { data } = usePages("find_tools", {});
  const put = (change: Partial<RuleDraft>) => setDraft((before) => ({ ...before, ...change }));
  const servers = [...new Set((data?.tools ?? []).map((tool) => tool.server ?? ""))].filter(Boolean);
  const names = (data?.tools ?? []).filter((tool) => (tool.server ?? "") === draft.server).map((tool) => tool.tool);

  async function save(event: FormEvent) {
    event.preventDefault();
    setTrouble("");
    try {
      const made = ruleOf(draft, rule);
      const saved = rule
        ? await run("policy_edit", { id: rule.id, rule: made })
        : await run("policy_add", { rule: made });
      const undo = () =>
        rule ? run("policy_edit", { id: saved.id, rule: { ...rule } }) : run("policy_remove", { id: saved.id });
      notify(
        RULES.saved(`${saved.effect} ${saved.server ?? "*"}.${saved.tool ?? "*"}`),
        () => void undo().then(refreshRules, (error: unknown) => notify(sentence(error))),
      );
      refreshRules();
      onClose();
    } catch (error) {
      setTrouble(sentence(error));
    }
  }
  return (
    <Dialog title={rule ? RULES.editTitle : RULES.addTitle} className="page-activity rule-dialog" onClose={onClose}>
      <form className="rule-form" onSubmit={(event) => void save(event)}>
        <Segments
          label={RULES.effect}
          value={draft.effect}
          onChange={(effect) => put({ effect })}
          options={(["allow", "ask", "deny"] as const).map((value) => ({ value, name: RULES.effects[value] }))}
        />
        <Text
          id={`${id}-server`}
          label={RULES.server}
          about={RULES.serverAbout}
          value={draft.server}
          list={servers}
          onChange={(server) => put({ server })}
        />
        <Text
          id={`${id}-tool`}
          label={RULES.tool}
          about={RULES.toolAbout}
          value={draft.tool}
          list={names}
          onChange={(tool) => put({ tool })}
        />
        <Conditions conditions={draft.conditions} onChange={(conditions) => put({ conditions })} />
        <label className="row space-above-10">
          <input type="checkbox" checked={draft.closed} onChange={(event) => put({ closed: event.target.checked })} />{" "}
          {RULES.closed}
        </label>
        <Text
          id={`${id}-project`}
          label={RULES.project}
          about={RULES.projectAbout}
          value={draft.project}
          onChange={(project) => put({ project })}
        />
        <Text id={`${id}-why`} label={RULES.why} about="" value={draft.why} onChange={(why) => put({ why })} plain />
        {trouble && (
          <p className="error-box space-above-14" role="alert">
            {trouble}
          </p>
        )}
        <div className="row space-above-18">
          <button type="submit" className="btn primary">
            {RULES.save}
          </button>
          <button type="button" className="btn" onClick={onClose}>
            {RULES.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextProps {
  id: string;
  label: string;
  about: string;
  value: string;
  list?: readonly string[];
  plain?: boolean;
  onChange: (value: string) => void;
}

function Text({ id, label, about, value, list, plain = false, onChange }: TextProps) {
  return (
    <div className="space-above-14">
      <label htmlFor={id}>
        <b className="medium">{label}</b>
      </label>
      <div className={plain ? "field space-above-5" : "field mono space-above-5"}>
        <input
          id={id}
          value={value}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={about ? `${id}-about` : undefined}
          list={list ? `${id}-list` : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {about && (
        <p className="muted text-small space-above-4" id={`${id}-about`}>
          {about}
        </p>
      )}
    </div>
  );
}

function Conditions({
  conditions,
  onChange,
}: {
  conditions: readonly Condition[];
  onChange: (conditions: Condition[]) => void;
}) {
  const put = (place: number, change: Partial<Condition>) =>
    onChange(conditions.map((one, index) => (index === place ? { ...one, ...change } : one)));
  return (
    <fieldset>
      <legend className="medium">{RULES.conditions}</legend>
      {conditions.map((one, index) => (
        <div key={index} className="row space-above-6">
          <div className="field mono grow">
            <input
              aria-label={RULES.argument}
              placeholder={RULES.argument}
              value={one.name}
              onChange={(event) => put(index, { name: event.target.value })}
            />
          </div>
          <select
            className="field"
            aria-label={RULES.conditions}
            value={one.how}
            onChange={(event) => put(index, { how: event.target.value as Condition["how"] })}
          >
            <option value="equals">{RULES.is}</option>
            <option value="like">{RULES.like}</option>
            <option value="under">{RULES.under}</option>
            <option value="any">{RULES.any}</option>
          </select>
          <div className="field mono grow">
            <input
              aria-label={RULES.value}
              placeholder={one.how === "under" ? RULES.folder : RULES.value}
              value={one.text}
              disabled={one.how === "any"}
              onChange={(event) => put(index, { text: event.target.value })}
            />
          </div>
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={RULES.removeCondition}
            onClick={() => onChange(conditions.filter((_, place) => place !== index))}
          >
            <Icon name="close" small />
          </button>
        </div>
      ))}
      <button
        type="button"
        className="btn small space-above-8"
        onClick={() => onChange([...conditions, { name: "", how: "like", text: "" }])}
      >
        {RULES.addCondition}
      </button>
    </fieldset>
  );
}
