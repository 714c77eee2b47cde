/** The tab Setup of a step: name, id, settings, and "Timing and errors" (timeout, wait, attempts, what is
 * recorded). */

import { useMemo, useState } from "react";

import { Segments } from "../../../ui/Segments";
import { Switch } from "../../../ui/Switch";
import type { EditorControls } from "../editor/state";
import { changeSettings, changeStep, idProblem, nameAfterTool, renameStep } from "../graph/commands";
import { RETRY, type Graph, type Settings, type Step } from "../graph/file";
import { outputsOf, type Kinds } from "../graph/kinds";
import { sourcesFor } from "../graph/references";
import { SettingsForm } from "../settings/SettingsForm";
import { TOOL_FIELD } from "../settings/ToolField";
import { SETUP } from "../text/panel";
import { NumberField, PlainField } from "./PlainField";

interface Props {
  editor: EditorControls;
  graph: Graph;
  kinds: Kinds;
  id: string;
  frozen: boolean;
}

/** Settings that the end of a group has and that nothing but the editor sets. */
const OWN = ["loop", "map"];

export function StepSetup({ editor, graph, kinds, id, frozen }: Props) {
  const sources = useMemo(() => sourcesFor(graph, kinds, id), [graph, kinds, id]);
  const step = graph.nodes[id];
  const kind = step ? kinds.get(step.type) : undefined;
  if (!step) return null;
  const put = (change: Partial<Step>, key: string) =>
    editor.change((now) => changeStep(now, id, change), `${id} ${key}`);
  const hidden = step.type.startsWith("End") ? OWN : [];
  const chooseTool = (settings: Settings) => {
    const before = String(step.settings["tool"] ?? "");
    const named = nameAfterTool(changeStep(graph, id, { settings }), kinds, id, before);
    editor.change(() => named.graph, null, [named.id]);
    requestAnimationFrame(() => document.getElementById(TOOL_FIELD)?.focus());
  };
  return (
    <div className="panel-body">
      {kind && <p className="secondary text-small">{kind.about}</p>}
      <PlainField
        label={SETUP.name}
        value={step.name}
        placeholder={id}
        disabled={frozen}
        onChange={(name) => put({ name }, "name")}
      />
      <IdField editor={editor} id={id} disabled={frozen} />
      {kind && (
        <SettingsForm
          schema={kind.settings}
          settings={step.settings}
          sources={sources}
          disabled={frozen}
          hidden={hidden}
          onChange={(settings, key) => {
            const next = { ...step, settings };
            const outputs = outputsOf(next, kinds);
            if (key === "tool") return chooseTool(settings);
            editor.change((now) => changeSettings(now, id, settings, outputs), `${id} ${key}`);
          }}
        />
      )}
      {!step.type.startsWith("End") && <Further step={step} disabled={frozen} onChange={put} />}
    </div>
  );
}

function IdField({ editor, id, disabled }: { editor: EditorControls; id: string; disabled: boolean }) {
  const [draft, setDraft] = useState(id);
  const problem = idProblem(editor.graph, draft, id);
  return (
    <PlainField
      label={SETUP.id}
      value={draft}
      mono
      disabled={disabled}
      help={SETUP.idAbout}
      wrong={problem && draft !== id ? SETUP.idProblems[problem] : ""}
      onChange={setDraft}
      onLeave={() => {
        if (problem || draft === id) return setDraft(id);
        editor.change((now) => renameStep(now, id, draft), null, [draft]);
      }}
    />
  );
}

interface FurtherProps {
  step: Step;
  disabled: boolean;
  onChange: (change: Partial<Step>, key: string) => void;
}

function Further({ step, disabled, onChange }: FurtherProps) {
  const { retry } = step;
  return (
    <details className="further">
      <summary>{SETUP.further}</summary>
      <div className="row switch-field space-above-10">
        <Switch
          label={SETUP.enabled}
          on={step.enabled}
          disabled={disabled}
          onChange={(enabled) => onChange({ enabled }, "enabled")}
        />
        {SETUP.enabled}
      </div>
      <NumberField
        label={SETUP.timeout}
        value={step.timeout}
        least={0.1}
        disabled={disabled}
        onChange={(timeout) => onChange({ timeout }, "timeout")}
      />
      <NumberField
        label={SETUP.settle}
        value={step.settle || null}
        least={0}
        disabled={disabled}
        onChange={(settle) => onChange({ settle: settle ?? 0 }, "settle")}
      />
      <NumberField
        label={SETUP.retry}
        value={retry?.attempts ?? null}
        least={1}
        whole
        disabled={disabled}
        onChange={(attempts) =>
          onChange({ retry: attempts === null || attempts < 2 ? null : { ...RETRY, ...retry, attempts } }, "retry")
        }
      />
      {retry && (
        <>
          <NumberField
            label={SETUP.delay}
            value={retry.delay}
            least={0}
            disabled={disabled}
            onChange={(delay) => onChange({ retry: { ...retry, delay: delay ?? RETRY.delay } }, "delay")}
          />
          <NumberField
            label={SETUP.factor}
            value={retry.factor}
            least={1}
            disabled={disabled}
            onChange={(factor) => onChange({ retry: { ...retry, factor: factor ?? RETRY.factor } }, "factor")}
          />
        </>
      )}
      <p className="form-label space-above-10">{SETUP.trace}</p>
      <Segments
        label={SETUP.trace}
        value={step.trace}
        options={(["full", "minimal", "off"] as const).map((value) => ({
          value,
          name: SETUP.traces[value],
          disabled,
        }))}
        onChange={(trace) => onChange({ trace }, "trace")}
      />
    </details>
  );
}
