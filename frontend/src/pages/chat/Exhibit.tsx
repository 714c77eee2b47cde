/** The exact call that a person is asked about: whole, wrapped, nothing hidden. */

import type { CallExhibit, CallQuestion } from "../../api/types";
import { tilde } from "../../text/home";
import { reveal } from "../../ui/hidden";
import { Glyph } from "../../ui/Status";
import { WORDS } from "./words";

export function Exhibit({ question, raw }: { question: CallQuestion; raw: boolean }) {
  const { exhibit } = question;
  if (raw) return <pre className="code wrap">{question.call}</pre>;
  if (exhibit.kind === "command") return <Command exhibit={exhibit} />;
  if (exhibit.kind === "code") return <pre className="code wrap">{reveal(exhibit.text ?? "")}</pre>;
  if (exhibit.kind === "edit") return <Edit exhibit={exhibit} />;
  return <Arguments question={question} />;
}

function Command({ exhibit }: { exhibit: CallExhibit }) {
  return (
    <>
      <pre className="code wrap">{reveal(exhibit.command ?? "")}</pre>
      {exhibit.unread && <p className="q t12" style={{ marginTop: 10 }}>{WORDS.unread(reveal(exhibit.unread))}</p>}
      {(exhibit.parts ?? []).length > 0 && (
        <ul className="parts">
          {(exhibit.parts ?? []).map((part, index) => (
            <li key={index}>
              <Glyph shape={part.doubt ? "need" : "done"} />
              <code>{reveal(part.text)}</code>
              <span className="q">{part.doubt ? reveal(part.doubt) : WORDS.onlyReads}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="q t12" style={{ marginTop: 10 }}>{whereItRuns(exhibit)}</p>
    </>
  );
}

function whereItRuns({ folder, limits }: CallExhibit): string {
  const parts = [folder ? WORDS.inFolder(reveal(tilde(folder))) : "", ...(limits ?? [])];
  return parts.filter(Boolean).join(" · ");
}

const CLASSES = { same: "ctx", added: "add", removed: "del", gap: "ctx" } as const;
const SIGNS = { same: " ", added: "+", removed: "−", gap: " " } as const;
const SPOKEN = { same: "", added: "added: ", removed: "removed: ", gap: "" } as const;

function Edit({ exhibit }: { exhibit: CallExhibit }) {
  const widest = Math.max(...(exhibit.lines ?? []).map((line) => String(line.number ?? "").length), 1);
  return (
    <>
      <div className="row" style={{ marginBottom: 8, alignItems: "baseline" }}>
        <code style={{ overflowWrap: "anywhere" }}>{reveal(tilde(exhibit.path ?? ""))}</code>
        <span className="m t12 nw hide-s" style={{ marginLeft: "auto" }}>
          {exhibit.new ? WORDS.newFile : WORDS.oneLine(exhibit.changed ?? 0)}
        </span>
      </div>
      <pre className="code dfx">
        {(exhibit.lines ?? []).map((line, index) => (
          <span key={index} className={CLASSES[line.kind]}>
            {line.kind === "gap" ? (
              <span className="c-k">⋯</span>
            ) : (
              <>
                <span className="c-k num">{String(line.number ?? "").padStart(widest)}</span> {SIGNS[line.kind]} <span className="sr">{SPOKEN[line.kind]}</span>
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
  const named = [question.server, question.tool.split("__").slice(1).join("__") || question.tool].filter(Boolean).join(".");
  return (
    <pre className="code wrap args">
      <span>{reveal(named)}</span>
      {Object.entries(question.arguments).map(([name, value]) => (
        <span key={name} className="arg">
          <span className="c-k">{reveal(name)}</span>
          <span>{reveal(typeof value === "string" ? value : JSON.stringify(value, null, 1))}</span>
        </span>
      ))}
    </pre>
  );
}
