/** The tab Settings of a server: fields that are saved on change, and their error messages. Which settings there are
 * is in `settings.ts`. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { Loading } from "../../ui/Loading";
import { Segments } from "../../ui/Segments";
import { Switch } from "../../ui/Switch";
import { ErrorBox } from "../../ui/ErrorBox";
import { SETTINGS, valueAt, withValue, type Json, type Setting } from "./settings";
import { useEntrySaver } from "./useEntry";
import { unknownKeysText } from "./text";

/** The usual settings as a form, saved on change; the same data as the raw JSON. */
export function SettingsForm({ name, onReview }: { name: string; onReview: () => void }) {
  const { data, error } = useOperation("entry", { name });
  const { save, trouble } = useEntrySaver(name, onReview);
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading rows={5} height={44} />;
  const entry = JSON.parse(data.text) as Json;
  return (
    <div className="form-width">
      {SETTINGS.map((setting) => (
        <div key={setting.name} className="setting">
          <div>
            <b className="medium">{setting.name}</b>
            <p className="muted text-small">{setting.about}</p>
          </div>
          <Control
            key={JSON.stringify(valueAt(entry, setting.path))}
            setting={setting}
            value={valueAt(entry, setting.path) ?? setting.usual}
            onChange={(value) => void save(JSON.stringify(withValue(entry, setting, value), null, 2), data.digest)}
          />
        </div>
      ))}
      {trouble !== null && <ErrorBox error={trouble} />}
      <p className="muted text-small space-above-12">{unknownKeysText(data.unknown.length)}</p>
    </div>
  );
}

interface ControlProps {
  setting: Setting;
  value: unknown;
  onChange: (value: unknown) => void;
}

function Control({ setting, value, onChange }: ControlProps) {
  if (setting.kind === "switch") return <Switch label={setting.name} on={Boolean(value)} onChange={onChange} />;
  if (setting.kind === "choice") {
    return <Segments label={setting.name} value={String(value)} options={setting.choices ?? []} onChange={onChange} />;
  }
  if (setting.kind === "names") {
    return (
      <TextField
        name={setting.name}
        wide
        value={(value as string[]).join(", ")}
        onDone={(text) => onChange(text.split(/[\s,]+/).filter(Boolean))}
        check={() => ""}
      />
    );
  }
  const { least = 0, most = Infinity } = setting;
  const check = (text: string) => {
    const number = Number(text);
    return text.trim() !== "" && number >= least && number <= most ? "" : `Between ${least} and ${most}.`;
  };
  return (
    <TextField
      name={setting.name}
      value={String(value)}
      unit={setting.kind === "seconds" ? "s" : "MB"}
      onDone={(text) => onChange(Number(text))}
      check={check}
    />
  );
}

interface TextProps {
  name: string;
  value: string;
  unit?: string;
  wide?: boolean;
  check: (text: string) => string;
  onDone: (text: string) => void;
}

function TextField({ name, value, unit, wide = false, check, onDone }: TextProps) {
  const [text, setText] = useState(value);
  const wrong = check(text);
  function done() {
    if (!wrong && text !== value) onDone(text);
  }
  return (
    <span className={wide ? "setting-input wide-input" : "setting-input"}>
      <span className="field">
        <input
          aria-label={name}
          aria-invalid={wrong !== ""}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={done}
          onKeyDown={(event) => event.key === "Enter" && done()}
        />
        {unit && <span className="muted">{unit}</span>}
      </span>
      {wrong && <span className="status fail text-small">{wrong}</span>}
    </span>
  );
}
