/** A question and everything that followed: tools offered, cards, waiting for a busy model, usage line ("model ·
 * tokens · cost · time"), Fork, "Edit and resend", Regenerate, going to other versions of a question. */

import { memo, useEffect, useState } from "react";

import { clock, money, plural, thousands, tokens } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Glyph } from "../../ui/Status";
import { useActions } from "./actions";
import { SentFiles } from "./SentFiles";
import { CallApproval } from "./CallApproval";
import { waitsAfter } from "./callText";
import { grouped, type Group } from "./groups";
import { TurnNotes } from "./TurnNotes";
import { addressOf } from "./Pictures";
import { allFit, isAlways } from "./reasons";
import { ServerRequest } from "./ServerRequest";
import { ModelText } from "./ModelText";
import { ToolCard } from "./ToolCard";
import { openQuestions, type Asking, type TurnView } from "./view";
import { TEXT } from "./text";
import "./text.css";

interface Props {
  turn: TurnView;
  last: boolean;
  /** The question that the address names. */
  wanted: string | null;
}

/** A question and everything that came of it, in its order. */
export const Turn = memo(function Turn({ turn, last, wanted }: Props) {
  const questions = openQuestions(turn);
  return (
    <div className="turn" aria-busy={turn.running}>
      {turn.question && <Asked turn={turn} last={last} />}
      {turn.offered.length > 0 && <Strip turn={turn} />}
      {grouped(turn.items).map((group) => (
        <One key={group.key} group={group} turn={turn} questions={questions} wanted={wanted} />
      ))}
      {turn.running && questions.length === 0 && !writes(turn) && (turn.busy ? <Busy busy={turn.busy} /> : <Working />)}
      <TurnNotes turn={turn} last={last} />
      {!turn.running && <Took turn={turn} last={last} />}
    </div>
  );
});

function writes(turn: TurnView): boolean {
  const item = turn.items.at(-1);
  return item?.kind === "text" || (item?.kind === "call" && ["running", "waiting"].includes(item.outcome));
}

function Working() {
  return <p className="muted text-small thinking-line">{TEXT.thinking}…</p>;
}

function Busy({ busy }: { busy: { reason: string; until: number } }) {
  const { stop } = useActions();
  const left = useSecondsUntil(busy.until);
  return (
    <p className="turn-note" role="status">
      <Glyph shape="retry" />
      <span>
        {busy.reason.replace(/[^.!?…]$/, "$&.")} {left > 0 ? TEXT.tryingIn(left) : TEXT.trying}
      </span>
      <button type="button" className="btn small push-end" onClick={stop}>
        {TEXT.stop}
      </button>
    </p>
  );
}

function useSecondsUntil(until: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((until - now) / 1000));
}

function Asked({ turn, last }: { turn: TurnView; last: boolean }) {
  const { forkAt, edit, busy } = useActions();
  const question = turn.question;
  if (!question) return null;
  return (
    <div className={last ? "user-turn last-turn" : "user-turn"}>
      {turn.position !== null && (
        <div className="message-actions">
          <button
            type="button"
            className="btn bare small icon-only on-hover"
            aria-label={TEXT.forkHere}
            title={TEXT.forkHere}
            onClick={() => forkAt(turn.until)}
          >
            <Icon name="fork" small />
          </button>
          <button type="button" className="btn bare small on-hover" disabled={busy} onClick={() => edit(turn)}>
            {TEXT.edit}
          </button>
          <Versions turn={turn} />
        </div>
      )}
      <div className="user-message">
        {question.images.map((image, index) => (
          <img key={index} className="image attached-image" src={addressOf(image)} alt="Attached picture" />
        ))}
        <SentFiles files={question.files} />
        <span className="message-text" dir="auto">
          {question.text}
        </span>
      </div>
    </div>
  );
}

function Strip({ turn }: { turn: TurnView }) {
  const { showOffered } = useActions();
  const always = turn.offered.filter((tool) => isAlways(tool.why)).length;
  const found = turn.offered.length - always;
  const all = allFit(turn.offered);
  return (
    <div className="turn-note">
      <Icon name="tools" small />
      <span>
        {all ? (
          TEXT.allFit(turn.offered.length)
        ) : (
          <>
            <b className="num">
              {thousands(turn.offered.length)} of {plural(Math.max(turn.of, turn.offered.length), "tool")} offered
            </b>
            {` · ${found} match this message${always ? `, ${always} always on` : ""}`}
          </>
        )}
      </span>
      <button type="button" className="plain-button link-button push-end" onClick={showOffered}>
        {all ? TEXT.showOffered : TEXT.whyThese}
      </button>
    </div>
  );
}

interface OneProps {
  group: Group;
  turn: TurnView;
  questions: Asking[];
  wanted: string | null;
}

function One({ group, turn, questions, wanted }: OneProps) {
  if (group.kind === "cards") {
    const calls = turn.items.filter((item) => item.kind === "call");
    const cards = group.calls.map((call) => <ToolCard key={call.id} call={call} after={waitsAfter(call, calls)} />);
    return cards.length > 1 ? <div className="card-stack">{cards}</div> : <>{cards}</>;
  }
  const item = group.item;
  if (item.kind === "note")
    return item.note === "continued" ? <p className="muted text-small">{TEXT.continued}</p> : null;
  if (item.kind !== "call" && item.kind !== "question") {
    return <ModelText item={item} writing={turn.running && turn.items.at(-1) === item} />;
  }
  const asking = item.asking;
  if (!asking) return null;
  const place =
    questions.length > 1 ? `${questions.findIndex((one) => one.id === asking.id) + 1} of ${questions.length}` : "";
  if (asking.about === "call")
    return <CallApproval question={asking.detail} place={place} focused={wanted === asking.id} />;
  return (
    <>
      {item.kind === "call" && <ToolCard call={item} />}
      <ServerRequest asking={asking} place={place} focused={wanted === asking.id} />
    </>
  );
}

/** What it took, in one quiet line; the last answer can be asked for again. */
function Took({ turn, last }: { turn: TurnView; last: boolean }) {
  const usage = turn.usage && turn.usage.requests > 0 ? turn.usage : null;
  const again = last && turn.question !== null && turn.position !== null;
  if (!usage && !again) return null;
  const parts = usage
    ? [
        turn.model,
        tokens(usage.input + usage.output),
        turn.cost === null ? "" : money(turn.cost),
        turn.time ? clock(turn.time) : "",
      ]
    : [];
  return (
    <div className="turn-usage num">
      <span>{parts.filter(Boolean).join(" · ")}</span>
      {again && <Regenerate turn={turn} />}
    </div>
  );
}

function Regenerate({ turn }: { turn: TurnView }) {
  const { retry, busy, model } = useActions();
  const other = model !== "" && turn.model !== "" && model !== turn.model;
  return (
    <button
      type="button"
      className="btn bare small push-end"
      disabled={busy}
      title={TEXT.regenerateAbout}
      onClick={() => retry(turn)}
    >
      <Icon name="again" small />
      {other ? TEXT.regenerateWith(model) : TEXT.regenerate}
    </button>
  );
}

/** Which version of a question this is, and the way to the others. */
function Versions({ turn }: { turn: TurnView }) {
  const { showVersion } = useActions();
  const number = turn.versions.findIndex((one) => one.position === turn.position);
  if (number < 0) return null;
  const before = turn.versions[number - 1];
  const after = turn.versions[number + 1];
  return (
    <span className="row versions" role="group" aria-label={TEXT.versions}>
      <button
        type="button"
        className="btn bare small icon-only"
        aria-label={TEXT.previousVersion}
        disabled={!before}
        onClick={() => before && showVersion(before)}
      >
        ‹
      </button>
      <span className="num muted text-small">{TEXT.versionOf(number + 1, turn.versions.length)}</span>
      <button
        type="button"
        className="btn bare small icon-only"
        aria-label={TEXT.nextVersion}
        disabled={!after}
        onClick={() => after && showVersion(after)}
      >
        ›
      </button>
    </span>
  );
}
