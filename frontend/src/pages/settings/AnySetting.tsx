/** The row "Any other setting": every setting without a row of its own, by its name in the file; how its value is
 * read. The host checks it. */

import { useId, useState, type FormEvent } from "react";

import { sentence } from "../../api/errors";
import type { SettingsShown } from "../../api/types";
import { ALL_ROWS } from "./settingRows";
import { save, settingAt } from "./saveSetting";
import { TEXT } from "./text";

/** Every setting that has no row of its own, by its name in the file; the host says what is wrong with a value. */
export function AnySetting({ shown }: { shown: SettingsShown }) {
  const id = useId();
  const [key, setKey] = useState("");
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState("");
  const others = shown.known.filter((name) => !name.includes("*") && !ALL_ROWS.has(name));

  function choose(name: string) {
    setKey(name);
    setWrong("");
    const value = settingAt(shown.settings, name);
    setText(value === undefined ? "" : JSON.stringify(value));
  }

  async function put(event: FormEvent) {
    event.preventDefault();
    setWrong("");
    try {
      await save(key.trim(), key.trim(), valueOf(text));
    } catch (error) {
      setWrong(sentence(error));
    }
  }

  return (
    <form className="setting-row any-setting" onSubmit={(event) => void put(event)}>
      <b className="medium">{TEXT.any}</b>
      <p>
        {TEXT.anyAbout}
        {wrong && (
          <span className="status fail" role="alert">
            {" "}
            {wrong}
          </span>
        )}
      </p>
      <span className="setting-control">
        <span className="field wide any-name">
          <input
            className="mono"
            aria-label={TEXT.anyName}
            placeholder="agent.maxTokens"
            list={id}
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => choose(event.target.value)}
          />
        </span>
        <datalist id={id}>
          {others.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <span className="field wide any-value">
          <input
            className="mono"
            aria-label={TEXT.anyValue}
            placeholder={TEXT.anyValue}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </span>
        <button type="submit" className="btn small" disabled={!key.trim()}>
          {TEXT.anySave}
        </button>
      </span>
    </form>
  );
}

/** As JSON where it is JSON, else as the text that it is; nothing takes the setting out again. */
export function valueOf(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.trim();
  }
}
