/** The field where a command, package, link or JSON is pasted or a file is dropped: Enter, "Run the
 * command unchanged". The host recognizes the text. */

import { useEffect, useState, type ClipboardEvent, type DragEvent } from "react";

import { ErrorBox } from "../../ui/ErrorBox";
import { Included } from "./Included";
import type { Answers, Listed, Request } from "./types";
import { StepDialog } from "./StepDialog";
import { ServerChoices } from "./ServerChoices";
import { LookUp, type LookingUp } from "./LookUp";
import { Recognition } from "./Recognition";
import { useRecognised } from "./useRecognised";
import { readTextFile } from "./textFile";
import { Values } from "./Values";
import { ALSO, PASTE } from "./text";

export interface Pasted {
  text: string;
  name: string | null;
  answers: Answers;
  asIs: boolean;
}

interface Props {
  pasted: Pasted;
  busy: boolean;
  looking: LookingUp | null;
  error: unknown;
  onChange: (pasted: Pasted) => void;
  onSee: (request: Request) => void;
  onAdd: (listed: Listed) => void;
  onCatalog: () => void;
  onForm: () => void;
  onClose: () => void;
}

/** One field that takes anything. */
export function PasteStep({ pasted, busy, looking, error, onChange, onSee, onAdd, onCatalog, onForm, onClose }: Props) {
  const [trouble, setTrouble] = useState("");
  const { found, fresh, error: unanswered } = useRecognised(pasted.text, pasted.asIs);
  const server = found?.servers[0];
  const several = found !== null && found.servers.length > 1;
  const name = pasted.name ?? server?.name ?? "";
  const ready = server !== undefined && found?.kind !== "ambiguous" && !several && name !== "";
  const [eager, setEager] = useState(false);
  const see = () => {
    if (busy) return;
    if (!fresh)
      setEager(true); // Enter came before the answer: it is kept, and acted on when it is there.
    else if (ready) onSee({ text: pasted.text, name, answers: pasted.answers, as_is: pasted.asIs });
  };
  useEffect(() => {
    if (!eager || !fresh) return;
    setEager(false);
    if (ready && !busy) onSee({ text: pasted.text, name, answers: pasted.answers, as_is: pasted.asIs });
  }, [eager, fresh, ready, busy, name, pasted, onSee]);
  const setText = (text: string) => {
    setEager(false);
    onChange({ ...pasted, text, name: null });
  };

  async function take(files: FileList | null): Promise<void> {
    const file = files?.[0];
    if (!file) return;
    const read = await readTextFile(file);
    if (read === null) setTrouble(PASTE.notText);
    else setText(read.text);
  }

  return (
    <StepDialog
      title={PASTE.title}
      onClose={onClose}
      onSubmit={see}
      foot={
        <>
          <span className="grow">
            <button type="button" className="plain-button link-button" onClick={onCatalog}>
              Browse catalog
            </button>
            <span className="muted"> · </span>
            <button type="button" className="plain-button link-button" onClick={onForm}>
              Fill in a form
            </button>
          </span>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          {!several && (
            <button
              type="submit"
              className="btn primary plan-button"
              disabled={!ready || !fresh || busy}
              aria-busy={busy}
            >
              {PASTE.see}
              <kbd>↵</kbd>
            </button>
          )}
        </>
      }
    >
      <p className="secondary space-below-10">{PASTE.about}</p>
      <textarea
        className="paste-field"
        aria-label={PASTE.label}
        placeholder="npx -y … · uvx … · https://… · { }"
        value={pasted.text}
        rows={Math.min(12, Math.max(2, pasted.text.split("\n").length))}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onPaste={(event: ClipboardEvent) =>
          event.clipboardData.files.length > 0 && void take(event.clipboardData.files)
        }
        onDragOver={(event: DragEvent) => event.preventDefault()}
        onDrop={(event: DragEvent) => {
          if (event.dataTransfer.files.length === 0) return;
          event.preventDefault();
          void take(event.dataTransfer.files);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || pasted.text.includes("\n")) return;
          event.preventDefault();
          see();
        }}
      />
      <div aria-live="polite">
        {found && !several && (
          <Recognition
            found={found}
            name={name}
            onName={(next) => onChange({ ...pasted, name: next })}
            onText={setText}
          />
        )}
      </div>
      {several && <ServerChoices key={found.digest} found={found} onDone={onClose} />}
      {ready && (
        <Values
          needed={server.needed}
          answers={pasted.answers}
          missing={[]}
          onChange={(answers) => onChange({ ...pasted, answers })}
        />
      )}
      {ready && server.way === "install" && server.reference.includes(":") && (
        <AsIs pasted={pasted} onChange={onChange} />
      )}
      {pasted.asIs && server?.way === "run" && <AsIs pasted={pasted} onChange={onChange} />}
      {looking && <LookUp {...looking} />}
      {trouble && (
        <p className="secondary" role="alert">
          {trouble}
        </p>
      )}
      {(error ?? unanswered) !== null && (error ?? unanswered) !== undefined && (
        <div className="space-above-12">
          <ErrorBox error={error ?? unanswered} />
        </div>
      )}
      {!several && !(ready && server.needed.length > 0) && (
        <>
          {pasted.text === "" && <Included busy={busy} onAdd={onAdd} />}
          <p className="muted text-small space-above-14">{PASTE.also}</p>
          <div className="examples">
            {ALSO.map((way) => (
              <span key={way} className="tag mono">
                {way}
              </span>
            ))}
          </div>
        </>
      )}
    </StepDialog>
  );
}

/** Whether a command that fetches at every start is run as it is. */
function AsIs({ pasted, onChange }: { pasted: Pasted; onChange: (pasted: Pasted) => void }) {
  if (!/^\s*(npx|uvx|bunx|pnpx|npm|pnpm|pipx|uv)\s/.test(pasted.text)) return null;
  return (
    <label className="check-row">
      <input
        type="checkbox"
        checked={pasted.asIs}
        onChange={(event) => onChange({ ...pasted, asIs: event.target.checked })}
      />
      <span>Run the command unchanged. It is downloaded again at every start.</span>
    </label>
  );
}
