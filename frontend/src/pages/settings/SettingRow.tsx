/** One setting as a row: switch, choice, number or text, when it is saved, and its error message. */

import { useState } from "react";

import { sentence } from "../../api/errors";
import { Segments } from "../../ui/Segments";
import { Switch } from "../../ui/Switch";
import { ChooseModel } from "../models/ChooseModel";
import type { Row } from "./settingRows";
import { save } from "./saveSetting";
import { MODELS } from "./text";

/** A setting: its name, a sentence, and the control; what is wrong stays in the field and is said below. */
export function SettingRow({ row, value }: { row: Row; value: unknown }) {
  const [wrong, setWrong] = useState("");
  function change(next: unknown) {
    setWrong("");
    save(row.key, row.name, next).catch((error: unknown) => setWrong(sentence(error)));
  }
  return (
    <div className="setting-row" id={row.key}>
      <b className="medium">{row.name}</b>
      <p>
        {row.about}
        {wrong && (
          <span className="status fail" role="alert">
            {" "}
            {wrong}
          </span>
        )}
      </p>
      <span className="setting-control">
        <Control key={JSON.stringify(value)} row={row} value={value} onChange={change} onWrong={setWrong} />
      </span>
    </div>
  );
}

interface ControlProps {
  row: Row;
  value: unknown;
  onChange: (value: unknown) => void;
  onWrong: (why: string) => void;
}

function Control({ row, value, onChange, onWrong }: ControlProps) {
  if (row.control === "switch") return <Switch label={row.name} on={value === true} onChange={onChange} />;
  if (row.control === "choice") {
    return (
      <Segments
        label={row.name}
        value={String(value ?? row.fallback)}
        options={row.choices ?? []}
        onChange={onChange}
      />
    );
  }
  if (row.control === "model") return <ModelControl value={String(value ?? "")} onChange={onChange} />;
  return <Field row={row} value={value} onChange={onChange} onWrong={onWrong} />;
}

function ModelControl({ value, onChange }: { value: string; onChange: (value: unknown) => void }) {
  const [choosing, setChoosing] = useState(false);
  return (
    <>
      <code className="model-name">{value || MODELS.noDefault}</code>
      <button type="button" className="btn small" onClick={() => setChoosing(true)}>
        {value ? MODELS.change : MODELS.choose}
      </button>
      {choosing && <ChooseModel onClose={() => setChoosing(false)} onModel={onChange} />}
    </>
  );
}

function Field({ row, value, onChange, onWrong }: ControlProps) {
  const before = Array.isArray(value) ? value.join(", ") : String(value ?? "");
  const [text, setText] = useState(before);
  const number = row.control === "number";
  function done() {
    if (text === before) return onWrong("");
    if (!number) return onChange(row.control === "names" ? text.split(/[\s,]+/).filter(Boolean) : text.trim());
    const { least = 0, most = Infinity } = row;
    const read = Number(text);
    if (text.trim() === "" || !(read >= least && read <= most)) return onWrong(`Between ${least} and ${most}.`);
    onChange(read);
  }
  return (
    <>
      <span className={number ? "field num setting-field" : "field num wide setting-field"}>
        <input
          aria-label={row.name}
          inputMode={number ? "numeric" : "text"}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={done}
          onKeyDown={(event) => event.key === "Enter" && done()}
        />
      </span>
      {row.unit && <span className="muted text-small setting-unit">{row.unit}</span>}
    </>
  );
}
