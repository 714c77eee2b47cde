/** Adding a server by a form: command, package, address or JSON, and the error messages of missing fields. */

import { useState } from "react";

import { Segments } from "../../ui/Segments";
import { ErrorBox } from "../../ui/ErrorBox";
import type { Listed, Request } from "./types";
import { LookUp, type LookingUp } from "./LookUp";
import { StepDialog } from "./StepDialog";
import { Values } from "./Values";

type Kind = "command" | "package" | "address" | "json";

export interface Filled {
  kind: Kind;
  name: string;
  command: string;
  args: string;
  env: string;
  folder: string;
  reference: string;
  url: string;
  headers: string;
  json: string;
  answers: Record<string, string>;
  listed: Listed | null;
}

export const EMPTY: Filled = {
  kind: "command",
  name: "",
  command: "",
  args: "",
  env: "",
  folder: "",
  reference: "",
  url: "",
  headers: "",
  json: '{\n  "command": ""\n}',
  answers: {},
  listed: null,
};

/** The form for a server of the catalog. */
export function filledFrom(listed: Listed): Filled {
  return {
    ...EMPTY,
    kind: listed.reference ? "package" : "address",
    name: listed.name,
    reference: listed.reference,
    url: listed.url,
    args: listed.args.join("\n"),
    listed,
  };
}

const KINDS = [
  { value: "command", name: "Command" },
  { value: "package", name: "Package" },
  { value: "address", name: "Address" },
  { value: "json", name: "JSON" },
] as const;

interface Props {
  filled: Filled;
  busy: boolean;
  looking: LookingUp | null;
  error: unknown;
  onChange: (filled: Filled) => void;
  onSee: (request: Request) => void;
  onBack: () => void;
  onClose: () => void;
}

/** Every part by hand, or the entry itself as JSON; unknown keys are kept. */
export function FormStep({ filled, busy, looking, error, onChange, onSee, onBack, onClose }: Props) {
  const [asked, setAsked] = useState(false);
  const problem = problemOf(filled);
  const set = (change: Partial<Filled>) => onChange({ ...filled, ...change });
  const needed = (filled.listed?.env ?? []).map((one) => ({
    key: `env:${one.name}`,
    title: one.name,
    description: one.about,
    kind: "string" as const,
    secret: one.secret,
    required: one.required,
    default: "",
    choices: [],
    multiple: false,
  }));
  return (
    <StepDialog
      title={filled.listed ? `Add ${filled.listed.title}` : "Fill in a form"}
      onClose={onClose}
      onSubmit={() => {
        setAsked(true);
        if (!problem && !busy) onSee(requestOf(filled));
      }}
      foot={
        <>
          <span className="grow" />
          <button type="button" className="btn" onClick={onBack}>
            Back
          </button>
          <button type="submit" className="btn primary plan-button" disabled={busy} aria-busy={busy}>
            Review plan
          </button>
        </>
      }
    >
      <Segments label="Type" value={filled.kind} options={KINDS} onChange={(kind) => set({ kind })} />
      <div className="value-fields">
        <Line id="form-name" name="Name" value={filled.name} onChange={(name) => set({ name })} />
        {filled.kind === "command" && (
          <>
            <Line id="form-command" name="Command" value={filled.command} onChange={(command) => set({ command })} />
            <Area
              id="form-args"
              name="Arguments, one per line"
              value={filled.args}
              onChange={(args) => set({ args })}
            />
            <Area id="form-env" name="Variables, NAME=value" value={filled.env} onChange={(env) => set({ env })} />
            <Line id="form-folder" name="Working folder" value={filled.folder} onChange={(folder) => set({ folder })} />
          </>
        )}
        {filled.kind === "package" && (
          <>
            <Line
              id="form-reference"
              name="Package"
              value={filled.reference}
              placeholder="npm:name@1.2 or pypi:name==1.2"
              onChange={(reference) => set({ reference })}
            />
            <Area
              id="form-args"
              name="Arguments, one per line"
              value={filled.args}
              onChange={(args) => set({ args })}
            />
          </>
        )}
        {filled.kind === "address" && (
          <>
            <Line
              id="form-url"
              name="Address"
              value={filled.url}
              placeholder="https://…/mcp"
              onChange={(url) => set({ url })}
            />
            <Area
              id="form-headers"
              name="Headers, Name: value"
              value={filled.headers}
              onChange={(headers) => set({ headers })}
            />
          </>
        )}
        {filled.kind === "json" && (
          <>
            <Area id="form-json" name="Entry" value={filled.json} rows={8} onChange={(json) => set({ json })} />
            <p className="muted text-small">Unknown keys are kept.</p>
          </>
        )}
      </div>
      <Values needed={needed} answers={filled.answers} missing={[]} onChange={(answers) => set({ answers })} />
      {looking && <LookUp {...looking} />}
      {asked && problem && (
        <p className="error-text space-above-10" role="alert">
          {problem}
        </p>
      )}
      {error !== null && error !== undefined && (
        <div className="space-above-12">
          <ErrorBox error={error} />
        </div>
      )}
    </StepDialog>
  );
}

interface FieldProps {
  id: string;
  name: string;
  value: string;
  placeholder?: string;
  rows?: number;
  onChange: (value: string) => void;
}

function Line({ id, name, value, placeholder, onChange }: FieldProps) {
  return (
    <div className="value-field">
      <label htmlFor={id} className="medium">
        {name}
      </label>
      <span className="field">
        <input
          id={id}
          value={value}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      </span>
    </div>
  );
}

function Area({ id, name, value, rows = 2, onChange }: FieldProps) {
  return (
    <div className="value-field">
      <label htmlFor={id} className="medium">
        {name}
      </label>
      <span className="field multiline mono">
        <textarea
          id={id}
          rows={Math.max(rows, value.split("\n").length)}
          value={value}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      </span>
    </div>
  );
}

const lines = (text: string) => text.split("\n").filter((line) => line.trim() !== "");

function pairs(text: string, sign: string): Record<string, string> {
  return Object.fromEntries(
    lines(text).map((line) => {
      const at = line.indexOf(sign);
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

function problemOf(filled: Filled): string {
  if (filled.kind !== "json" && !filled.name.trim()) return "Enter a name.";
  if (filled.kind === "command" && !filled.command.trim()) return "Enter a command.";
  if (filled.kind === "package" && !/^(npm|pypi):./.test(filled.reference) && !/^[~/]/.test(filled.reference)) {
    return "Enter npm:NAME, pypi:NAME or a file path.";
  }
  if (filled.kind === "address" && !/^https?:\/\/./.test(filled.url))
    return "Enter an address that starts with https://.";
  return "";
}

export function requestOf(filled: Filled): Request {
  const name = filled.name.trim();
  const answers = filled.answers;
  if (filled.kind === "json") return { text: filled.json, name, answers };
  if (filled.kind === "package") return { reference: filled.reference.trim(), args: lines(filled.args), name, answers };
  const env = pairs(filled.env, "=");
  const headers = pairs(filled.headers, ":");
  const entry =
    filled.kind === "address"
      ? { url: filled.url.trim(), ...(Object.keys(headers).length > 0 ? { headers } : {}) }
      : {
          command: filled.command.trim(),
          ...(filled.args.trim() ? { args: lines(filled.args) } : {}),
          ...(Object.keys(env).length > 0 ? { env } : {}),
          ...(filled.folder.trim() ? { cwd: filled.folder.trim() } : {}),
        };
  return { entry, name, answers };
}
