/** The exact call to be approved: complete, wrapped, nothing hidden. */

import type { CallExhibit, CallQuestion } from "../../api/types";
import { tilde } from "../../text/home";
import { reveal } from "../../ui/hidden";
import { outgoing } from "../../ui/outgoing/Outgoing";
import { Glyph } from "../../ui/Status";
import { TEXT } from "./text";

export function CallPreview({ question, raw }: { question: CallQuestion; raw: boolean }) {
  const { exhibit } = question;
  if (raw) return <pre className="code wrap">{question.call}</pre>;
  if (exhibit.kind === "command") return <Command exhibit={exhibit} />;
  if (exhibit.kind === "code") return <pre className="code wrap">{reveal(exhibit.text ?? "")}</pre>;
  if (exhibit.kind === "edit") return <Edit exhibit={exhibit} />;
  return outgoing(exhibit) ?? <Arguments question={question} />;
}

function Command({ exhibit }: { exhibit: CallExhibit }) {
  return (
    <>
      <pre className="code wrap">{reveal(exhibit.command ?? "")}</pre>
      {exhibit.unread && <p className="secondary text-small space-above-10">{TEXT.unread(reveal(exhibit.unread))}</p>}
      {(exhibit.parts ?? []).length > 0 && (
        <ul className="command-parts">
          {(exhibit.parts ?? []).map((part, index) => (
            <li key={index}>
              <Glyph shape={part.doubt ? "need" : "done"} />
              <code>{reveal(part.text)}</code>
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
        {(exhibit.lines ?? []).map((line, index) => (
          <span key={index} className={CLASSES[line.kind]}>
            {line.kind === "gap" ? (
              <span className="code-key">⋯</span>
            ) : (
              <>
                <span className="code-key num">{String(line.number ?? "").padStart(widest)}</span> {SIGNS[line.kind]}{" "}
                <span className="visually-hidden">{SPOKEN[line.kind]}</span>
                {reveal(line.text)}
              </>
            )}
          </span>
        ))}
      </pre>
    </>
  );
}

function Arguments({ question }: { question: CallQuestion }) {
  const named = [question.server, question.tool.split("__").slice(1).join("__") || question.tool]
    .filter(Boolean)
    .join(".");
  return (
    <pre className="code wrap argument-block">
      <span>{reveal(named)}</span>
      {Object.entries(question.arguments).map(([name, value]) => (
        <span key={name} className="argument">
          <span className="code-key">{reveal(name)}</span>
          <span>{reveal(typeof value === "string" ? value : JSON.stringify(value, null, 1))}</span>
        </span>
      ))}
    </pre>
  );
}
