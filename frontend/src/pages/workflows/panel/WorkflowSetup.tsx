/** The tab Setup of a whole workflow: description, inputs, results, and how runs behave (model, timeout, runs at the
 * same time, wait for answers, offered as a tool). */

import { useState } from "react";

import { useOperation } from "../../../api/hooks";
import { Icon } from "../../../ui/Icon";
import { Switch } from "../../../ui/Switch";
import { ChooseModel } from "../../models/ChooseModel";
import type { EditorControls } from "../editor/state";
import { newParameter, type Graph, type Options, type Parameter } from "../graph/file";
import { sourcesFor, type Source } from "../graph/references";
import { useKinds } from "../editor/kinds";
import { PairsField } from "../settings/PairsField";
import { SETUP } from "../text/panel";
import { NumberField, PlainField } from "./PlainField";

const TYPES = ["string", "number", "integer", "boolean", "array", "object"] as const;

/** What the workflow takes and gives, and how its runs behave. */
export function WorkflowSetup({ editor, frozen }: { editor: EditorControls; frozen: boolean }) {
  const { graph } = editor;
  const { kinds } = useKinds();
  const put = (change: Partial<Graph>, key: string) => editor.change((now) => ({ ...now, ...change }), key);
  const sources: Source[] = kinds ? lastSources(graph, (id) => sourcesFor(graph, kinds, id)) : [];
  return (
    <div className="panel-body schema-form settings-form">
      <PlainField
        label={SETUP.description}
        long
        value={graph.description}
        disabled={frozen}
        onChange={(description) => put({ description }, "description")}
      />
      <Inputs editor={editor} disabled={frozen} />
      <PairsField
        field={OUTPUTS}
        value={graph.outputs}
        settings={{}}
        sources={sources}
        disabled={frozen}
        onChange={(outputs) => put({ outputs: outputs as Graph["outputs"] }, "outputs")}
      />
      <RunSettings options={graph.options} disabled={frozen} onChange={(options, key) => put({ options }, key)} />
    </div>
  );
}

const OUTPUTS = {
  name: "outputs",
  title: SETUP.outputs,
  description: "",
  kind: "json" as const,
  required: false,
  choices: [],
  schema: {},
  item: null,
  fallback: undefined,
} satisfies Parameters<typeof PairsField>[0]["field"];

/** Everything that any step gives: the result may use all of it. */
function lastSources(graph: Graph, of: (id: string) => Source[]): Source[] {
  const found = new Map<string, Source>();
  for (const id of Object.keys(graph.nodes)) for (const source of of(id)) found.set(source.root, source);
  found.delete("item");
  return [...found.values()];
}

function Inputs({ editor, disabled }: { editor: EditorControls; disabled: boolean }) {
  const inputs = Object.entries(editor.graph.inputs);
  const put = (next: readonly (readonly [string, Parameter])[], key: string) =>
    editor.change((now) => ({ ...now, inputs: Object.fromEntries(next) }), key);
  const change = (index: number, name: string, one: Parameter) =>
    put(
      inputs.map((pair, place) => (place === index ? [name, one] : pair)),
      `input ${index}`,
    );
  return (
    <fieldset className="form-field inputs" disabled={disabled}>
      <legend className="form-label">{SETUP.inputs}</legend>
      {inputs.map(([name, one], index) => (
        <div key={index} className="input-row">
          <div className="row">
            <div className="field mono grow">
              <input
                aria-label={SETUP.inputName}
                value={name}
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => change(index, event.target.value, one)}
              />
            </div>
            <select
              className="field"
              aria-label={`${SETUP.inputType}: ${name}`}
              value={one.type}
              onChange={(event) => change(index, name, { ...one, type: event.target.value as Parameter["type"] })}
            >
              {TYPES.map((type) => (
                <option key={type} value={type}>
                  {type}
                </option>
              ))}
            </select>
            <button
              type="button"
              className="btn bare small icon-only"
              aria-label={SETUP.remove(name)}
              onClick={() =>
                put(
                  inputs.filter((_, place) => place !== index),
                  "inputs",
                )
              }
            >
              <Icon name="close" small />
            </button>
          </div>
          <div className="field">
            <input
              aria-label={`${SETUP.description}: ${name}`}
              placeholder={SETUP.description}
              value={one.description}
              onChange={(event) => change(index, name, { ...one, description: event.target.value })}
            />
          </div>
          <div className="row text-small input-flags">
            <label className="row">
              <input
                type="checkbox"
                checked={one.required}
                onChange={(event) => change(index, name, { ...one, required: event.target.checked })}
              />
              {SETUP.required}
            </label>
            <label className="row">
              <input
                type="checkbox"
                checked={one.secret}
                onChange={(event) => change(index, name, { ...one, secret: event.target.checked })}
              />
              {SETUP.secret}
            </label>
          </div>
        </div>
      ))}
      <button
        type="button"
        className="btn small space-above-6"
        onClick={() => put([...inputs, [freeInput(editor.graph), newParameter()]], "inputs")}
      >
        {SETUP.addInput}
      </button>
    </fieldset>
  );
}

function freeInput(graph: Graph): string {
  let number = Object.keys(graph.inputs).length + 1;
  while (`input_${number}` in graph.inputs) number += 1;
  return `input_${number}`;
}

interface OptionsProps {
  options: Options;
  disabled: boolean;
  onChange: (options: Options, key: string) => void;
}

function RunSettings({ options, disabled, onChange }: OptionsProps) {
  const { data: models } = useOperation("host_info", {});
  const [choosing, setChoosing] = useState(false);
  const put = (change: Partial<Options>, key: string) => onChange({ ...options, ...change }, key);
  return (
    <details className="further">
      <summary>{SETUP.options}</summary>
      <PlainField
        label={SETUP.model}
        value={options.model ?? ""}
        placeholder={models?.model ?? SETUP.default}
        disabled={disabled}
        onChange={(model) => put({ model: model || null }, "model")}
      />
      <button type="button" className="btn bare small" disabled={disabled} onClick={() => setChoosing(true)}>
        {SETUP.chooseModel}
      </button>
      {choosing && <ChooseModel onClose={() => setChoosing(false)} onModel={(model) => put({ model }, "model")} />}
      <PlainField
        label={SETUP.desktop}
        value={options.desktop}
        disabled={disabled}
        onChange={(desktop) => put({ desktop }, "desktop")}
      />
      <NumberField
        label={SETUP.runTimeout}
        value={options.timeout}
        least={0.1}
        disabled={disabled}
        onChange={(timeout) => put({ timeout }, "timeout")}
      />
      <NumberField
        label={SETUP.concurrency}
        value={options.concurrency}
        least={1}
        whole
        disabled={disabled}
        onChange={(concurrency) => put({ concurrency }, "concurrency")}
      />
      <NumberField
        label={SETUP.questionDeadline}
        value={options.question_deadline}
        least={1}
        disabled={disabled}
        onChange={(question_deadline) => put({ question_deadline }, "deadline")}
      />
      <div className="row switch-field space-above-14">
        <Switch label={SETUP.tool} on={options.tool} disabled={disabled} onChange={(tool) => put({ tool }, "tool")} />
        {SETUP.tool}
      </div>
    </details>
  );
}
