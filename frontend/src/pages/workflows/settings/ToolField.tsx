/** The field for the tool of a step: a list to search by what people type, and what may be meant by an unknown name. */

import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";

import { usePages } from "../../../api/hooks";
import { reveal } from "../../../ui/hidden";
import { labelOf } from "../../../ui/schema-form/text";
import { SETUP } from "../text/panel";
import type { SettingFieldProps } from "./fieldProps";
import { closestTool, findTools, toolLabel } from "./toolSearch";

/** The id of the field. A step that is named after its tool is drawn anew, and the field gets the focus back. */
export const TOOL_FIELD = "setting-tool";

export function ToolField({ field, value, disabled, onChange }: SettingFieldProps) {
  const id = useId();
  const { data } = usePages("tools", {});
  const name = typeof value === "string" ? value : "";
  /** What is typed; null while the list is closed. */
  const [words, setWords] = useState<string | null>(null);
  const [index, setIndex] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = useMemo(() => (words === null ? [] : findTools(data ?? [], words)), [data, words]);
  const unknown = data !== undefined && name !== "" && !name.includes("{{") && !data.some((tool) => tool.name === name);
  const meant = unknown ? closestTool(data, name) : undefined;
  const isOpen = words !== null;
  useEffect(() => {
    if (isOpen) list.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  useEffect(() => {
    list.current?.children[index]?.scrollIntoView({ block: "nearest" });
  }, [index, words]);

  function choose(tool: string) {
    setWords(null);
    if (tool !== name) onChange(tool || undefined);
  }
  function open(text: string) {
    setWords(text);
    setIndex(0);
  }
  function press(event: KeyboardEvent) {
    if (event.key === "Escape" && words !== null) setWords(null);
    else if (event.key === "Enter" && words !== null) choose(found[index]?.name ?? words.trim());
    else if (event.key === "ArrowDown" && words === null) open("");
    else if (event.key === "ArrowDown") setIndex((index + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp" && words !== null)
      setIndex((index + found.length - 1) % Math.max(1, found.length));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="form-field tool-field">
      <label className="field-label" htmlFor={TOOL_FIELD}>
        <b>{labelOf(field)}</b> <span>{SETUP.required.toLowerCase()}</span>
      </label>
      <div className="field">
        <input
          id={TOOL_FIELD}
          role="combobox"
          aria-expanded={words !== null}
          aria-controls={`${id}-tools`}
          aria-activedescendant={found[index] ? `${id}-${index}` : undefined}
          aria-describedby={`${id}-help`}
          aria-invalid={unknown || undefined}
          value={words ?? toolLabel(name)}
          disabled={disabled}
          autoComplete="off"
          spellCheck={false}
          placeholder={SETUP.chooseTool}
          onMouseDown={() => words === null && open("")}
          onChange={(event) => open(event.target.value)}
          onKeyDown={press}
          onBlur={() => (words?.trim() ? choose(words.trim()) : setWords(null))}
        />
      </div>
      {words !== null && (
        <ul id={`${id}-tools`} ref={list} role="listbox" aria-label={SETUP.tools} className="tool-options">
          {found.map((tool, place) => (
            <li
              key={tool.name}
              id={`${id}-${place}`}
              role="option"
              aria-selected={place === index}
              onMouseMove={() => setIndex(place)}
              onMouseDown={(event) => {
                event.preventDefault(); // The field keeps the focus.
                choose(tool.name);
              }}
            >
              <b className="medium break-anywhere">{reveal(toolLabel(tool.name))}</b>
              <span className="muted text-small">{reveal(plain(tool.description))}</span>
            </li>
          ))}
          {found.length === 0 && <li className="muted text-small">{data ? SETUP.noMatch(words) : SETUP.loading}</li>}
        </ul>
      )}
      <p id={`${id}-help`} className={unknown ? "field-error wrap" : "field-help"}>
        {unknown ? (
          <span>
            {SETUP.noTool(name)}{" "}
            {meant ? (
              <button type="button" className="plain-button link-button" onClick={() => choose(meant.name)}>
                {SETUP.didYouMean(reveal(toolLabel(meant.name)))}
              </button>
            ) : (
              SETUP.serverOff
            )}
          </span>
        ) : (
          reveal(plain(data?.find((tool) => tool.name === name)?.description ?? ""))
        )}
      </p>
    </div>
  );
}

/** Without the marks of code, which the page shows as text. */
function plain(text: string): string {
  return text.replaceAll("`", "");
}
