/** What happened to a turn as a whole: stopped, failed, cut, shortened. */

import { useState } from "react";

import { Link } from "../../app/router";
import { clock } from "../../ui/amounts";
import { Status } from "../../ui/Status";
import { useActions } from "./actions";
import type { NoteView, TurnView } from "./view";
import { WORDS } from "./words";

export function Notes({ turn, last }: { turn: TurnView; last: boolean }) {
  const notes = turn.items.filter((item): item is NoteView => item.kind === "note");
  const shortened = notes.find((note) => note.note === "shortened");
  const failed = notes.find((note) => note.note === "failed");
  return (
    <>
      {shortened && <Shortened note={shortened} />}
      {turn.running && notes.some((note) => note.note === "again") && <p className="m t12">{WORDS.again}</p>}
      {notes.filter((note) => note.note === "notice").map((note) => <p key={note.key} className="m t12">{note.text}</p>)}
      {turn.ending === "stopped" && <EndedEarly word={WORDS.stopped} last={last} />}
      {turn.ending === "interrupted" && <EndedEarly word={WORDS.interrupted} last={last} />}
      {turn.ending === "budget" && <p className="m t12">{WORDS.budget}</p>}
      {turn.ending === "cut" && <p className="m t12">{WORDS.cutAtLimit}</p>}
      {turn.ending === "refused" && <p className="m t12">{WORDS.refused}</p>}
      {turn.ending === "filtered" && <p className="m t12">{WORDS.filtered}</p>}
      {turn.ending === "failed" && <Failed turn={turn} text={failed?.text ?? ""} last={last} />}
    </>
  );
}

/** An answer that was stopped or interrupted; the last one of a chat can be continued. */
function EndedEarly({ word, last }: { word: string; last: boolean }) {
  return (
    <p className="strip">
      <Status shape="stop" word={word} />
      {last && <Continue />}
    </p>
  );
}

function Continue() {
  const { resume, busy } = useActions();
  return (
    <button type="button" className="btn sm" style={{ marginLeft: "auto" }} disabled={busy} onClick={resume}>{WORDS.continueAnswer}</button>
  );
}

function Shortened({ note }: { note: NoteView }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="m t12">
      <p>
        {WORDS.shortened(note.time ? clock(note.time) : "")}{" "}
        {note.text && (
          <button type="button" className="plain linkish" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? WORDS.hide : WORDS.show}
          </button>
        )}
      </p>
      {open && <pre className="code wrap" style={{ marginTop: 6 }}>{note.text}</pre>}
    </div>
  );
}

/** Why it failed and the way out: a new key, or once more. */
function Failed({ turn, text, last }: { turn: TurnView; text: string; last: boolean }) {
  const { send, resume, busy } = useActions();
  const message = turn.error?.message ?? text;
  const kind = turn.error?.kind ?? "";
  const key = kind.includes("key") || /\b401\b|key .*refused|refused .*key/i.test(message);
  const cut = /broke off|cut/i.test(message);
  const begun = cut || turn.items.findLast((item) => item.kind !== "note")?.kind === "text";
  const question = turn.question?.text ?? "";
  return (
    <div className="trouble" role={last ? "alert" : undefined}>
      <p>
        <b>{cut ? WORDS.brokeOff : message}</b> {cut ? message : (turn.error?.hint ?? "")}
      </p>
      {last && (
        <div className="row" style={{ marginTop: 8 }}>
          {key && <Link className="btn sm" href="/settings#models">{WORDS.replaceKey}</Link>}
          {begun ? (
            <button type="button" className="btn sm" disabled={busy} onClick={resume}>{WORDS.continueAnswer}</button>
          ) : (
            question && <button type="button" className="btn sm" disabled={busy} onClick={() => send(question)}>{WORDS.tryAgain}</button>
          )}
        </div>
      )}
    </div>
  );
}
