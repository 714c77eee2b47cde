/** A text of any length: how many characters are shown at first, "Show all", Download, and its length in words. Of the
 * whole text only the part in view is drawn. */

import { useMemo, useRef, useState, type ReactNode } from "react";

import { characters, thousands } from "./amounts";
import { download } from "./download";
import { reveal } from "./hidden";
import "./longText.css";
import { useWindow } from "./window";

/** Characters that are shown at once. The one place where a long text is cut. */
export const BEGINNING = 20_000;
const PART = 1_000;

interface Props {
  text: string;
  /** How long it was, if only its beginning is kept. */
  total?: number;
  /** What it is, for those who hear it, and the name of the file it is downloaded as. */
  label: string;
  className?: string;
  /** A text that is not long, drawn in another way. */
  children?: ReactNode;
}

export function LongText({ text, total: given, label, className = "", children }: Props) {
  const [all, setAll] = useState(false);
  const kept = useMemo(() => characters(text), [text]);
  const total = given ?? kept;
  const long = text.length > BEGINNING || total > kept;
  const part = text.length > BEGINNING ? beginningOf(text) : text;
  return (
    <>
      {all && part !== text ? (
        <Parts text={text} label={label} />
      ) : (
        (children ?? (
          <pre className={`code wrap ${className}`} dir="auto">
            {reveal(part)}
          </pre>
        ))
      )}
      {long && (
        <p className="row long-text-foot muted text-small num">
          <span className="grow" role="status">
            {lengthText(all ? kept : characters(part), kept, total)}
          </span>
          {part !== text && (
            <button type="button" className="plain-button link-button" onClick={() => setAll(!all)}>
              {all ? "Show less" : total > kept ? "Show what is kept" : "Show all"}
            </button>
          )}
          <button type="button" className="btn bare small" onClick={() => download(`${label}.txt`, text)}>
            Download
          </button>
        </p>
      )}
    </>
  );
}

export function lengthText(shown: number, kept: number, total: number): string {
  const [of, first, stored] = [total, shown, kept].map(thousands);
  if (kept === total)
    return shown === total ? `All ${of} characters are shown.` : `The first ${first} of ${of} characters are shown.`;
  const begun = shown < kept ? `The first ${first} of ${of} characters are shown. ` : "";
  return `${begun}${begun ? `The first ${stored} are kept.` : `The first ${stored} of ${of} characters are kept.`}`;
}

function Parts({ text, label }: { text: string; label: string }) {
  const list = useRef<HTMLDivElement>(null);
  const parts = useMemo(() => partsOf(text), [text]);
  const view = useWindow({ count: parts.length, height: 400, keyOf: (index) => index, anchor: list });
  return (
    <div className="code wrap long-text" role="group" aria-label={label} tabIndex={0}>
      <div ref={list}>
        <div style={{ height: view.before }} />
        {view.rows.map(({ index, key }) => (
          <pre key={key} ref={view.measure} data-index={index} dir="auto">
            {reveal(text.slice(parts[index], parts[index + 1]).replace(/\n$/, ""))}
          </pre>
        ))}
        <div style={{ height: view.after }} />
      </div>
    </div>
  );
}

/** Where each part begins: after a line break where there is one, and never inside a character. */
export function partsOf(text: string): number[] {
  const starts = [];
  for (let start = 0; start < text.length; start = partEnd(text, start)) starts.push(start);
  return starts;
}

function partEnd(text: string, start: number): number {
  if (start + PART >= text.length) return text.length;
  const line = text.lastIndexOf("\n", start + PART) + 1;
  return line > start ? line : whole(text, start + PART);
}

function beginningOf(text: string): string {
  return text.slice(0, whole(text, BEGINNING));
}

/** The place itself, or the one before it in the middle of a pair. */
function whole(text: string, place: number): number {
  return /[\uD800-\uDBFF]/.test(text[place - 1] ?? "") ? place - 1 : place;
}
