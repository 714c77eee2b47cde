/** The tab Checks: what must hold after a step or after the run, and whether a failed check fails or warns. The host
 * runs the checks. */

import { useMemo } from "react";

import { Icon } from "../../../ui/Icon";
import type { EditorControls } from "../editor/state";
import { changeStep } from "../graph/commands";
import { newCheck, type Check, type Graph } from "../graph/file";
import type { Kinds } from "../graph/kinds";
import { sourcesFor, type Source } from "../graph/references";
import { Condition } from "../settings/ConditionField";
import { TextValue } from "../settings/TextValue";
import { CHECKS, SETUP } from "../text/panel";
import { PlainField } from "./PlainField";

interface Props {
  editor: EditorControls;
  graph: Graph;
  kinds: Kinds;
  id: string | null;
  frozen: boolean;
}

/** What must hold after a step, or after the run. */
export function ChecksTab({ editor, graph, kinds, id, frozen }: Props) {
  const checks = (id === null ? graph.checks : graph.nodes[id]?.checks) ?? [];
  const sources = useMemo(() => (id === null ? [] : sourcesFor(graph, kinds, id)), [graph, kinds, id]);
  const put = (next: readonly Check[], key: string | null = null) =>
    editor.change((now) => (id === null ? { ...now, checks: next } : changeStep(now, id, { checks: next })), key);
  return (
    <div className="panel-body schema-form">
      <p className="secondary text-small">{id === null ? CHECKS.aboutRun : CHECKS.about}</p>
      {checks.length === 0 && <p className="muted space-above-10">{CHECKS.none}</p>}
      {checks.map((check, index) => (
        <CheckRow
          key={index}
          check={check}
          sources={sources}
          disabled={frozen}
          onChange={(change) =>
            put(
              checks.map((one, place) => (place === index ? { ...one, ...change } : one)),
              `check ${id} ${index}`,
            )
          }
          onRemove={() => put(checks.filter((_, place) => place !== index))}
        />
      ))}
      {!frozen && (
        <button type="button" className="btn small space-above-10" onClick={() => put([...checks, newCheck()])}>
          {CHECKS.add}
        </button>
      )}
    </div>
  );
}

interface RowProps {
  check: Check;
  sources: readonly Source[];
  disabled: boolean;
  onChange: (change: Partial<Check>) => void;
  onRemove: () => void;
}

const VALUES: Partial<Record<Check["type"], string>> = { window_title: CHECKS.title, image_found: CHECKS.image };

function CheckRow({ check, sources, disabled, onChange, onRemove }: RowProps) {
  return (
    <fieldset className="check" disabled={disabled}>
      <legend className="visually-hidden">{CHECKS.types[check.type]}</legend>
      <div className="row">
        <select
          className="field grow"
          aria-label={CHECKS.type}
          value={check.type}
          onChange={(event) => onChange({ type: event.target.value as Check["type"], value: null })}
        >
          {Object.entries(CHECKS.types).map(([type, name]) => (
            <option key={type} value={type}>
              {name}
            </option>
          ))}
        </select>
        <select
          className="field"
          aria-label={CHECKS.onFail}
          value={check.on_fail}
          onChange={(event) => onChange({ on_fail: event.target.value as Check["on_fail"] })}
        >
          <option value="fail">{CHECKS.onFails.fail}</option>
          <option value="warn">{CHECKS.onFails.warn}</option>
        </select>
        <button
          type="button"
          className="btn bare small icon-only"
          aria-label={SETUP.remove(CHECKS.types[check.type])}
          onClick={onRemove}
        >
          <Icon name="close" small />
        </button>
      </div>
      {check.type === "condition" ? (
        <Condition
          value={check.value}
          sources={sources}
          disabled={disabled}
          onChange={(value) => onChange({ value })}
        />
      ) : (
        <>
          <TextValue
            label={VALUES[check.type] ?? CHECKS.value}
            text={typeof check.value === "string" ? check.value : ""}
            read={(text) => ({ value: text, wrong: "" })}
            sources={sources}
            disabled={disabled}
            onChange={(value) => onChange({ value })}
          />
          <PlainField
            label={CHECKS.app}
            value={check.app_name ?? ""}
            disabled={disabled}
            onChange={(name) => onChange({ app_name: name || null })}
          />
        </>
      )}
    </fieldset>
  );
}
