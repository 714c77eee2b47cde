/** Notes on how a turn ended (stopped, interrupted, cut, refused, failed, earlier rounds shortened), with Continue,
 * "Try again" or "Replace key". */

import { useState } from "react";

import { Link } from "../../app/router";
import { clock } from "../../ui/amounts";
import { Status } from "../../ui/Status";
import { useActions } from "./actions";
import type { NoteView, TurnView } from "./view";
import { TEXT } from "./text";

export function TurnNotes({ turn, last }: { turn: TurnView; last: boolean }) {
  const notes = turn.items.filter((item): item is NoteView => item.kind === "note");
  const shortened = notes.find((note) => note.note === "shortened");
  const failed = notes.find((note) => note.note === "failed");
  return (
    <>
      {shortened && <Shortened note={shortened} />}
      {turn.running && notes.some((note) => note.note === "again") && <p className="muted text-small">{TEXT.again}</p>}
      {notes
        .filter((note) => note.note === "notice")
        .map((note) => (
          <p key={note.key} className="muted text-small">
            {note.text}
          </p>
        ))}
      {turn.ending === "stopped" && <EndedEarly word={TEXT.stopped} last={last} />}
      {turn.ending === "interrupted" && <EndedEarly word={TEXT.interrupted} last={last} />}
      {turn.ending === "budget" && <p className="muted text-small">{TEXT.budget}</p>}
      {turn.ending === "cut" && <p className="muted text-small">{TEXT.cutAtLimit}</p>}
      {turn.ending === "refused" && <p className="muted text-small">{TEXT.refused}</p>}
      {turn.ending === "filtered" && <p className="muted text-small">{TEXT.filtered}</p>}
      {turn.ending === "unknown" && <p className="muted text-small">{TEXT.unknownStop}</p>}
      {turn.ending === "failed" && <Failed turn={turn} text={failed?.text ?? ""} last={last} />}
    </>
  );
}

/** An answer that was stopped or interrupted; the last one of a chat can be continued. */
function EndedEarly({ word, last }: { word: string; last: boolean }) {
  return (
    <p className="turn-note">
      <Status shape="stop" word={word} />
      {last && <Continue />}
    </p>
  );
}

function Continue() {
  const { resume, busy } = useActions();
  return (
    <button type="button" className="btn small push-end" disabled={busy} onClick={resume}>
      {TEXT.continueAnswer}
    </button>
  );
}

function Shortened({ note }: { note: NoteView }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="muted text-small">
      <p>
        {TEXT.shortened(note.time ? clock(note.time) : "")}{" "}
        {note.text && (
          <button
            type="button"
            className="plain-button link-button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? TEXT.hide : TEXT.show}
          </button>
        )}
      </p>
      {open && <pre className="code wrap space-above-6">{note.text}</pre>}
    </div>
  );
}

/** Why it failed and the way out: a new key, or once more. */
function Failed({ turn, text, last }: { turn: TurnView; text: string; last: boolean }) {
  const { retry, resume, busy } = useActions();
  const message = turn.error?.message ?? text;
  const kind = turn.error?.kind ?? "";
  const key = kind.includes("key") || /\b401\b|key .*refused|refused .*key/i.test(message);
  const cut = /broke off|cut/i.test(message);
  const begun = cut || turn.items.findLast((item) => item.kind !== "note")?.kind === "text";
  return (
    <div className="error-box" role={last ? "alert" : undefined}>
      <p>
        <b>{cut ? TEXT.brokeOff : message}</b> {cut ? message : (turn.error?.hint ?? "")}
      </p>
      {last && (
        <div className="row space-above-8">
          {key && (
            <Link className="btn small" href="/settings#models">
              {TEXT.replaceKey}
            </Link>
          )}
          {begun ? (
            <button type="button" className="btn small" disabled={busy} onClick={resume}>
              {TEXT.continueAnswer}
            </button>
          ) : (
            turn.question && (
              <button type="button" className="btn small" disabled={busy} onClick={() => retry(turn)}>
                {TEXT.tryAgain}
              </button>
            )
          )}
        </div>
      )}
    </div>
  );
}
