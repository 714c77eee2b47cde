/** The form for how a server is run or reached: command, arguments in rows that can be moved, environment variables and
 * headers with a choice to store a value as a secret, address, working folder. Saved by a button, because a change
 * requires trust. */

import { useRef, useState, type ReactNode } from "react";

import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import {
  chosenSecrets,
  draftOf,
  errorsOf,
  fieldErrors,
  fits,
  formPart,
  moved,
  TEXT_KEYS,
  withDraft,
  type Draft,
  type Errors,
  type Pair,
  type PairKey,
  type TextKey,
} from "./entryDraft";
import type { Json } from "./settings";
import { FORM } from "./text";
import type { EntrySaver } from "./useEntry";

interface Props {
  entry: Json;
  /** The keys of the server's type. */
  keys: readonly string[];
  digest: string;
  saver: EntrySaver;
}

/** Rows for what runs, with what; the same data as the raw JSON. */
export function LaunchForm({ entry, keys, digest, saver }: Props) {
  const [draft, setDraft] = useState<Draft | null>(null);
  const [begun, setBegun] = useState("");
  const [errors, setErrors] = useState<Errors>({});
  const shown = draft ?? draftOf(entry);
  const wrong = { ...fieldErrors(saver.trouble, shown), ...errors };
  const conflict = draft !== null && begun !== formPart(entry);
  const has = (key: string) => (keys.includes(key) || key in entry) && fits(entry, key);
  const other = [...TEXT_KEYS, "args", "env", "headers"].filter((key) => key in entry && !fits(entry, key));

  function change(part: Partial<Draft>): void {
    if (draft === null) setBegun(formPart(entry));
    setErrors({});
    saver.forget();
    setDraft({ ...shown, ...part });
  }

  function discard(): void {
    setDraft(null);
    setErrors({});
    saver.forget();
  }

  const line = (key: TextKey) => (
    <Field key={key} id={`launch-${key}`} name={FORM.names[key]} error={wrong[key]}>
      <span className="field mono">
        <input
          id={`launch-${key}`}
          aria-invalid={wrong[key] !== undefined}
          aria-describedby={wrong[key] ? `launch-${key}-error` : undefined}
          autoComplete="off"
          spellCheck={false}
          value={shown.texts[key] ?? ""}
          onChange={(event) => change({ texts: { ...shown.texts, [key]: event.target.value } })}
        />
      </span>
    </Field>
  );

  async function save(): Promise<void> {
    if (!draft || saver.busy) return;
    const found = errorsOf(draft, draftOf(entry));
    setErrors(found);
    if (Object.keys(found).length > 0 || conflict) return;
    const text = JSON.stringify(withDraft(entry, draft), null, 2);
    if (await saver.save({ text, digest, secrets: chosenSecrets(draft) })) setDraft(null);
  }

  return (
    <form
      className="launch-form"
      aria-label={FORM.title}
      noValidate
      onSubmit={(event) => (event.preventDefault(), void save())}
    >
      {TEXT_KEYS.filter((key) => key !== "cwd" && has(key)).map(line)}
      {has("args") && <Arguments args={shown.args} errors={wrong} onChange={(args) => change({ args })} />}
      {has("env") && <Pairs of="env" pairs={shown.env} errors={wrong} onChange={(env) => change({ env })} />}
      {has("headers") && (
        <Pairs of="headers" pairs={shown.headers} errors={wrong} onChange={(headers) => change({ headers })} />
      )}
      {has("cwd") && line("cwd")}
      {other.length > 0 && <p className="muted text-small">{FORM.otherForm(other)}</p>}
      {conflict && (
        <p className="error-text" role="alert">
          {FORM.changed}
        </p>
      )}
      {saver.trouble !== null && Object.keys(fieldErrors(saver.trouble)).length === 0 && (
        <ErrorBox error={saver.trouble} />
      )}
      {draft && (
        <div className="row form-foot">
          <span className="muted text-small grow">{FORM.trust}</span>
          <button type="button" className="btn" onClick={discard}>
            {FORM.discard}
          </button>
          <button type="submit" className="btn primary" disabled={saver.busy || conflict}>
            {FORM.save}
          </button>
        </div>
      )}
    </form>
  );
}

function Field({
  id,
  name,
  error,
  children,
}: {
  id: string;
  name: string;
  error: string | undefined;
  children: ReactNode;
}) {
  return (
    <div className="form-field">
      <label htmlFor={id} className="medium">
        {name}
      </label>
      {children}
      {error && <Wrong id={id}>{error}</Wrong>}
    </div>
  );
}

function Wrong({ id, children }: { id: string; children: string }) {
  return (
    <p id={`${id}-error`} className="error-text text-small" role="alert">
      {children}
    </p>
  );
}

/** Adds, moves and removes rows, and puts the focus where the user goes on. */
function useRows<T>(rows: readonly T[], empty: T, onChange: (rows: T[]) => void) {
  const list = useRef<HTMLOListElement>(null);
  const focus = (index: number) =>
    requestAnimationFrame(() => list.current?.children[index]?.querySelector("input")?.focus());
  return {
    list,
    set: (index: number, row: T) => onChange(rows.map((old, at) => (at === index ? row : old))),
    add: (index = rows.length) => {
      onChange([...rows.slice(0, index), empty, ...rows.slice(index)]);
      focus(index);
    },
    move: (index: number, by: number) => {
      if (rows[index + by] === undefined) return;
      onChange(moved(rows, index, index + by));
      focus(index + by);
    },
    remove: (index: number) => {
      onChange(rows.filter((_, at) => at !== index));
      focus(Math.max(0, index - 1));
    },
  };
}

interface ArgumentsProps {
  args: readonly string[];
  errors: Errors;
  onChange: (args: string[]) => void;
}

function Arguments({ args, errors, onChange }: ArgumentsProps) {
  const rows = useRows(args, "", onChange);
  return (
    <fieldset className="form-field">
      <legend className="medium">{FORM.arguments}</legend>
      <ol ref={rows.list} className="form-rows">
        {args.map((text, index) => {
          const error = errors[`args.${index}`];
          const name = FORM.argument(index + 1);
          return (
            <li key={index}>
              <div className="argument-row">
                <span className="muted text-small num" aria-hidden="true">
                  {index + 1}
                </span>
                <span className="field mono">
                  <input
                    aria-label={name}
                    aria-invalid={error !== undefined}
                    autoComplete="off"
                    spellCheck={false}
                    value={text}
                    onChange={(event) => rows.set(index, event.target.value)}
                    onKeyDown={(event) => {
                      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
                      if (event.altKey && by) rows.move(index, by);
                      else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) rows.add(index + 1);
                      else return;
                      event.preventDefault();
                    }}
                  />
                </span>
                <RowButton label={FORM.up(name)} disabled={index === 0} onClick={() => rows.move(index, -1)}>
                  <span className="upside-down">
                    <Icon name="down" small />
                  </span>
                </RowButton>
                <RowButton
                  label={FORM.down(name)}
                  disabled={index === args.length - 1}
                  onClick={() => rows.move(index, 1)}
                >
                  <Icon name="down" small />
                </RowButton>
                <RowButton label={FORM.remove(name)} onClick={() => rows.remove(index)}>
                  <Icon name="close" small />
                </RowButton>
              </div>
              {error && <Wrong id={`argument-${index}`}>{error}</Wrong>}
            </li>
          );
        })}
      </ol>
      <AddRow onClick={() => rows.add()}>{FORM.addArgument}</AddRow>
    </fieldset>
  );
}

interface PairsProps {
  of: PairKey;
  pairs: readonly Pair[];
  errors: Errors;
  onChange: (pairs: Pair[]) => void;
}

const STORED = /\$\{secret:[^}]*\}/;

function Pairs({ of, pairs, errors, onChange }: PairsProps) {
  const rows = useRows(pairs, { name: "", value: "", secret: false }, onChange);
  return (
    <fieldset className="form-field">
      <legend className="medium">{FORM.pairs[of].title}</legend>
      <ol ref={rows.list} className="form-rows">
        {pairs.map((pair, index) => {
          const error = errors[`${of}.${index}`];
          const name = pair.name || FORM.pairs[of].one(index + 1);
          const stored = STORED.test(pair.value);
          return (
            <li key={index}>
              <div className="pair-row">
                <span className="field mono">
                  <input
                    aria-label={FORM.nameOf(FORM.pairs[of].one(index + 1))}
                    aria-invalid={error !== undefined}
                    placeholder={FORM.pairs[of].example}
                    autoComplete="off"
                    spellCheck={false}
                    value={pair.name}
                    onChange={(event) => rows.set(index, { ...pair, name: event.target.value })}
                  />
                </span>
                <span className="field mono">
                  <input
                    aria-label={FORM.valueOf(name)}
                    type={pair.secret ? "password" : "text"}
                    autoComplete="off"
                    spellCheck={false}
                    value={pair.value}
                    onChange={(event) => rows.set(index, { ...pair, value: event.target.value })}
                  />
                </span>
                {stored ? (
                  <button
                    type="button"
                    className="btn small"
                    aria-label={FORM.replaceOf(name)}
                    onClick={() => rows.set(index, { ...pair, value: "", secret: true })}
                  >
                    {FORM.replace}
                  </button>
                ) : (
                  <label className="secret-choice text-small">
                    <input
                      type="checkbox"
                      aria-label={FORM.secretOf(name)}
                      checked={pair.secret}
                      onChange={(event) => rows.set(index, { ...pair, secret: event.target.checked })}
                    />
                    {FORM.secret}
                  </label>
                )}
                <RowButton label={FORM.remove(name)} onClick={() => rows.remove(index)}>
                  <Icon name="close" small />
                </RowButton>
              </div>
              {error && <Wrong id={`${of}-${index}`}>{error}</Wrong>}
            </li>
          );
        })}
      </ol>
      <AddRow onClick={() => rows.add()}>{FORM.pairs[of].add}</AddRow>
      <p className="muted text-small">{FORM.pairs[of].about}</p>
    </fieldset>
  );
}

interface RowButtonProps {
  label: string;
  disabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function RowButton({ label, disabled = false, onClick, children }: RowButtonProps) {
  return (
    <button
      type="button"
      className="btn bare small icon-only"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

function AddRow({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <button type="button" className="btn small add-row" onClick={onClick}>
      <Icon name="plus" small />
      {children}
    </button>
  );
}
