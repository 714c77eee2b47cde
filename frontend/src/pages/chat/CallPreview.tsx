/** The exact call in an approval: command with its checked parts, code, difference of an edited file, or all
 * arguments; runs of empty lines are folded, nothing is hidden. The host makes the preview. */

import type { ReactNode } from "react";

import type { CallExhibit, CallQuestion, DifferenceLine } from "../../api/types";
import { emptyLines, Exact } from "../../ui/Exact";
import { tilde } from "../../text/home";
import { reveal } from "../../ui/hidden";
import { outgoing } from "../../ui/outgoing/Outgoing";
import { Glyph } from "../../ui/Status";
import { TEXT } from "./text";

export function CallPreview({ question, raw }: { question: CallQuestion; raw: boolean }) {
  const { exhibit } = question;
  if (raw)
    return (
      <pre className="code wrap">
        <Exact text={question.call} />
      </pre>
    );
  const shown = outgoing(exhibit);
  if (shown) return shown;
  const Body = BODIES[exhibit.kind];
  if (!Body) return <Arguments question={question} />;
  return (
    <>
      <Body exhibit={exhibit} />
      <Arguments question={question} without={(name, value) => isShown(exhibit, name, value)} />
    </>
  );
}

const BODIES: Record<string, (props: { exhibit: CallExhibit }) => ReactNode> = {
  command: Command,
  code: Code,
  edit: Edit,
};
const SHOWN: Record<string, readonly string[]> = {
  command: ["cwd", "timeout", "background"],
  edit: ["path", "content", "edits"],
};

/** Whether the exhibit shows this argument already. */
export function isShown(exhibit: CallExhibit, name: string, value: unknown): boolean {
  const text = exhibit.kind === "command" ? exhibit.command : exhibit.text;
  return (SHOWN[exhibit.kind] ?? []).includes(name) || (exhibit.kind !== "edit" && value === text);
}

function Code({ exhibit }: { exhibit: CallExhibit }) {
  return (
    <pre className="code wrap">
      <Exact text={exhibit.text ?? ""} />
    </pre>
  );
}

function Command({ exhibit }: { exhibit: CallExhibit }) {
  return (
    <>
      <pre className="code wrap">
        <Exact text={exhibit.command ?? ""} />
      </pre>
      {exhibit.unread && <p className="secondary text-small space-above-10">{TEXT.unread(reveal(exhibit.unread))}</p>}
      {(exhibit.parts ?? []).length > 0 && (
        <ul className="command-parts">
          {(exhibit.parts ?? []).map((part, index) => (
            <li key={index}>
              <Glyph shape={part.doubt ? "need" : "done"} />
              <code>
                <Exact text={part.text} />
              </code>
              <span className="secondary">{part.doubt ? reveal(part.doubt) : TEXT.onlyReads}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="secondary text-small space-above-10">{whereItRuns(exhibit)}</p>
    </>
  );
}

function whereItRuns({ folder, limits }: CallExhibit): string {
  const parts = [folder ? TEXT.inFolder(reveal(tilde(folder))) : "", ...(limits ?? [])];
  return parts.filter(Boolean).join(" · ");
}

const CLASSES = {
  same: "diff-context",
  added: "diff-added",
  removed: "diff-removed",
  gap: "diff-context",
} as const;
const SIGNS = { same: " ", added: "+", removed: "−", gap: " " } as const;
const SPOKEN = { same: "", added: "added: ", removed: "removed: ", gap: "" } as const;

function Edit({ exhibit }: { exhibit: CallExhibit }) {
  const widest = Math.max(...(exhibit.lines ?? []).map((line) => String(line.number ?? "").length), 1);
  return (
    <>
      <div className="row edit-head">
        <code className="break-anywhere">{reveal(tilde(exhibit.path ?? ""))}</code>
        <span className="muted text-small nowrap hide-narrow push-end">
          {exhibit.new ? TEXT.newFile : TEXT.oneLine(exhibit.changed ?? 0)}
        </span>
      </div>
      <pre className="code diff">
        {foldEmpty(exhibit.lines ?? []).map((line, index) => (
          <span key={index} className={CLASSES[line.kind]}>
            {line.kind === "gap" ? (
              <span className="code-key">⋯ {line.text}</span>
            ) : line.empty ? (
              <span className="folded">{emptyLines(line.empty)}</span>
            ) : (
              <>
                <span className="code-key num">{String(line.number ?? "").padStart(widest)}</span> {SIGNS[line.kind]}{" "}
                <span className="visually-hidden">{SPOKEN[line.kind]}</span>
                <Exact text={line.text} />
              </>
            )}
          </span>
        ))}
      </pre>
    </>
  );
}

const FEW_EMPTY = 3;

/** Runs of empty lines of one kind as one line that counts them. */
export function foldEmpty(lines: readonly DifferenceLine[]): (DifferenceLine & { empty?: number })[] {
  const folded: (DifferenceLine & { empty?: number })[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index] as DifferenceLine;
    let run = 0;
    while (isEmpty(lines[index + run], line.kind)) run += 1;
    folded.push(run >= FEW_EMPTY ? { ...line, empty: run } : line);
    index += run >= FEW_EMPTY ? run : 1;
  }
  return folded;
}

function isEmpty(line: DifferenceLine | undefined, kind: DifferenceLine["kind"]): boolean {
  return line !== undefined && line.kind === kind && kind !== "gap" && /^[\s\u2800]*$/.test(line.text);
}

interface ArgumentsProps {
  question: CallQuestion;
  /** Those that are shown elsewhere; without any others, nothing is shown. */
  without?: (name: string, value: unknown) => boolean;
}

function Arguments({ question, without }: ArgumentsProps) {
  const named = [question.server, question.tool.split("__").slice(1).join("__") || question.tool]
    .filter(Boolean)
    .join(".");
  const given = Object.entries(question.arguments).filter(([name, value]) => !without?.(name, value));
  if (without && given.length === 0) return null;
  return (
    <pre className={without ? "code wrap argument-block space-above-8" : "code wrap argument-block"}>
      <span>{without ? TEXT.otherArguments : reveal(named)}</span>
      {given.map(([name, value]) => (
        <span key={name} className="argument">
          <span className="code-key">{reveal(name)}</span>
          <span>
            <Exact text={typeof value === "string" ? value : JSON.stringify(value, null, 1)} />
          </span>
        </span>
      ))}
    </pre>
  );
}
