/** The tab Settings of a server: the form for how it is run, fields that are saved on change, and their error messages.
 * Which settings there are is in `settings.ts`. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { Loading } from "../../ui/Loading";
import { Segments } from "../../ui/Segments";
import { Switch } from "../../ui/Switch";
import { ErrorBox } from "../../ui/ErrorBox";
import { fieldErrors } from "./entryDraft";
import { LaunchForm } from "./LaunchForm";
import { settingsFor, valueAt, withValue, type Json, type Setting } from "./settings";
import { useEntrySaver } from "./useEntry";
import { unknownKeysText } from "./text";

/** The entry as a form; the same data as the raw JSON. */
export function SettingsForm({ name, onReview }: { name: string; onReview: () => void }) {
  const { data, error } = useOperation("entry", { name });
  const saver = useEntrySaver(name, data?.text ?? "", onReview);
  const changes = useEntrySaver(name, data?.text ?? "", onReview);
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading rows={5} height={44} />;
  const entry = JSON.parse(data.text) as Json;
  const wrong = fieldErrors(changes.trouble);
  return (
    <div className="form-width">
      <LaunchForm entry={entry} keys={data.keys} digest={data.digest} saver={saver} />
      {settingsFor(entry, data.keys).map((setting) => (
        <div key={setting.name} className="setting">
          <div>
            <b className="medium">{setting.name}</b>
            <p className="muted text-small">{setting.about}</p>
            {wrong[setting.path.join(".")] && (
              <p className="error-text text-small" role="alert">
                {wrong[setting.path.join(".")]}
              </p>
            )}
          </div>
          <Control
            key={JSON.stringify(valueAt(entry, setting.path))}
            setting={setting}
            value={valueAt(entry, setting.path) ?? setting.usual}
            onChange={(value) =>
              void changes.save({
                text: JSON.stringify(withValue(entry, setting, value), null, 2),
                digest: data.digest,
              })
            }
          />
        </div>
      ))}
      {changes.trouble !== null && Object.keys(wrong).length === 0 && <ErrorBox error={changes.trouble} />}
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
  if (setting.kind === "paths") {
    return (
      <PathsField
        name={setting.name}
        value={(value as string[]).join("\n")}
        onDone={(text) =>
          onChange(
            text
              .split("\n")
              .map((line) => line.trim())
              .filter(Boolean),
          )
        }
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

function PathsField({ name, value, onDone }: { name: string; value: string; onDone: (text: string) => void }) {
  const [text, setText] = useState(value);
  return (
    <span className="setting-input wide-input">
      <span className="field multiline mono">
        <textarea
          aria-label={name}
          rows={Math.max(1, text.split("\n").length)}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => text !== value && onDone(text)}
        />
      </span>
    </span>
  );
}
