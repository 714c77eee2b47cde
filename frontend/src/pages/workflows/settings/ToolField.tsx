/** The field for the tool of a step, with registered tools as suggestions and a warning for an unknown one. */

import { useId } from "react";

import { usePages } from "../../../api/hooks";
import { SETUP } from "../text/panel";
import type { SettingFieldProps } from "./fieldProps";

/** The name of a tool, with the registered ones as suggestions. */
export function ToolField({ field, value, disabled, onChange }: SettingFieldProps) {
  const id = useId();
  const { data } = usePages("tools", {});
  const name = typeof value === "string" ? value : "";
  const unknown = data !== undefined && name !== "" && !name.includes("{{") && !data.some((tool) => tool.name === name);
  return (
    <div className="form-field">
      <label className="field-label" htmlFor={id}>
        <b>{field.name}</b>
      </label>
      <div className="field mono">
        <input
          id={id}
          list={`${id}-tools`}
          value={name}
          disabled={disabled}
          autoComplete="off"
          spellCheck={false}
          placeholder={SETUP.chooseTool}
          aria-describedby={`${id}-help`}
          onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
        />
      </div>
      <datalist id={`${id}-tools`}>
        {data?.map((tool) => (
          <option key={tool.name} value={tool.name} />
        ))}
      </datalist>
      <p id={`${id}-help`} className={unknown ? "field-error" : "field-help"}>
        {unknown ? SETUP.noTool(name) : field.description}
      </p>
    </div>
  );
}
