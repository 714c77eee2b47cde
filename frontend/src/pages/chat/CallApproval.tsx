/** The card that asks to approve a call: "Allow for" (once, chat, project, always) and what is preselected, the rule
 * it would create, why it asks, keys A and D. The host decides what it asks and offers. */

import { useEffect, useRef, useState, type KeyboardEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import type { RuleWords } from "../../api/types";
import { isTyping } from "../../app/keys";
import { notify } from "../../app/notices";
import { setSearch } from "../../app/router";
import { tilde } from "../../text/home";
import { reveal } from "../../ui/hidden";
import { Segments } from "../../ui/Segments";
import { Glyph } from "../../ui/Status";
import { SEE_ALL, Whole } from "../../ui/Whole";
import { DenyForm } from "./DenyForm";
import { PressIgnored, useInputDelay } from "./inputDelay";
import { CallPreview } from "./CallPreview";
import type { CallQuestion } from "./view";
import { BREADTHS, LIFTS, SCOPES, TEXT, type Breadth, type LiftName, type ScopeName } from "./text";
import "./cards.css";

interface Props {
  question: CallQuestion;
  /** `1 of 3`, when there are several. */
  place: string;
  focused: boolean;
  /** How the answer is given, where not to a running turn. */
  reply?: (action: "accept" | "decline", content: Record<string, unknown>) => Promise<unknown>;
}

export function CallApproval({ question, place, focused, reply }: Props) {
  const card = useRef<HTMLElement>(null);
  const [scope, setScope] = useState<ScopeName>(() =>
    question.grant && question.scopes.includes("chat") ? "chat" : "once",
  );
  const [breadth, setBreadth] = useState<Breadth>("call");
  const [raw, setRaw] = useState(false);
  const [seen, setSeen] = useState(false);
  const [denying, setDenying] = useState(false);
  const [said, setSaid] = useState<"" | "allow" | "deny">("");
  const [trouble, setTrouble] = useState("");
  const ignored = useInputDelay(card);
  useEffect(() => {
    if (!focused) return;
    card.current?.focus();
    setSearch({ question: null }); // So that the same link works again.
  }, [focused]);

  async function answer(action: "accept" | "decline", content: Record<string, unknown>) {
    setSaid(action === "accept" ? "allow" : "deny");
    setTrouble("");
    try {
      await (reply ? reply(action, content) : run("chat_reply", { id: question.id, action, content }));
    } catch (error) {
      setSaid("");
      setTrouble(sentence(error));
    }
  }
  const whole = breadth === "tool" && scope !== "once" ? { any_arguments: true } : {};
  const allow = () => seen && void answer("accept", { scope, ...whole });
  const lift = (how: LiftName) => seen && void answer("accept", { scope, lift: how });
  const deny = (message: string) => void answer("decline", { message });

  function keys(event: KeyboardEvent) {
    if (isTyping(event.target) || event.metaKey || event.ctrlKey || event.altKey || event.repeat || said) return;
    if (event.key === "a" || event.key === "A") allow();
    else if (event.key === "d" || event.key === "D") setDenying(true);
    else return;
    event.preventDefault();
  }

  return (
    <article
      ref={card}
      className="tool-card question-card"
      tabIndex={-1}
      aria-label={`Approval: ${question.title}`}
      data-question={question.id}
      onKeyDown={keys}
    >
      <PressIgnored shown={ignored} />
      <div className="card-head">
        <Glyph shape="need" />
        <h3 className="grow">{reveal(question.title)}</h3>
        {place && <span className="muted text-small num">{place}</span>}
        <button type="button" className="btn bare small raw-call" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {TEXT.rawCall}
        </button>
      </div>
      <div className="card-body">
        <Whole key={String(raw)} label={TEXT.call} onSeen={() => setSeen(true)}>
          <CallPreview question={question} raw={raw} />
        </Whole>
        {denying ? (
          <DenyForm busy={said === "deny"} onBack={() => setDenying(false)} onDeny={deny} />
        ) : (
          <>
            <Why question={question} />
            {(question.grant || !question.flow) && !question.session_mode && (
              <Scope question={question} scope={scope} onScope={setScope} breadth={breadth} onBreadth={setBreadth} />
            )}
            <Lifts question={question} busy={said !== "" || !seen} onLift={lift} />
            <p className="called space-above-12">
              {question.server && <i>{reveal(question.server)} · </i>}
              {reveal(ownName(question))}
              {!seen && <span className="see-first">{SEE_ALL.first}</span>}
            </p>
            <Buttons
              question={question}
              scope={scope}
              said={said}
              seen={seen}
              onAllow={allow}
              onDeny={() => setDenying(true)}
            />
          </>
        )}
        {trouble && (
          <p className="error-box space-above-10" role="alert">
            {trouble}
          </p>
        )}
      </div>
    </article>
  );
}

function ownName(question: CallQuestion): string {
  const [, ...rest] = question.tool.split("__");
  return rest.join("__") || question.tool;
}

function Why({ question }: { question: CallQuestion }) {
  const reason = typeof question.arguments["reason"] === "string" ? question.arguments["reason"] : "";
  return (
    <p className="secondary space-above-10">
      <b className="medium emphasis">{question.flow && !question.grant ? TEXT.whyAsksFlow : TEXT.whyAsks}</b>{" "}
      {question.session_mode
        ? `Reason given: “${reveal(reason)}”. ${TEXT.sessionRefused}`
        : reveal(tilde(question.why))}
      {question.hazard && ` ${TEXT.onlyOnce}`}
    </p>
  );
}

interface ScopeProps {
  question: CallQuestion;
  scope: ScopeName;
  onScope: (scope: ScopeName) => void;
  breadth: Breadth;
  onBreadth: (breadth: Breadth) => void;
}

/** All of the rules lie in one place, so that choosing moves nothing. */
function Scope({ question, scope, onScope, breadth, onBreadth }: ScopeProps) {
  const options = question.scopes.map((value) => ({ value, name: SCOPES[value].name }));
  if (options.length < 2) return null;
  const whole = question.tool_words ?? {};
  const words = breadth === "tool" ? whole : question.words;
  return (
    <dl className="scope-choice">
      <dt>{TEXT.allowFor}</dt>
      <dd>
        <Segments label={TEXT.allowFor} value={scope} options={options} onChange={onScope} />
      </dd>
      {Object.keys(whole).length > 0 && (
        <>
          <dt>{TEXT.allowWhat}</dt>
          <dd>
            <Segments label={TEXT.allowWhat} value={breadth} options={BREADTHS} onChange={onBreadth} />
          </dd>
        </>
      )}
      <dt>{question.grant ? TEXT.allows : TEXT.writesRule}</dt>
      <dd className="rule" tabIndex={0}>
        {question.scopes.map((one) => (
          <span key={one} aria-hidden={one !== scope} className={one === scope ? "" : "invisible"}>
            {question.grant ? <Granted what={question.grant} scope={one} /> : <Written words={words[one]} />}
          </span>
        ))}
      </dd>
    </dl>
  );
}

function Granted({ what, scope }: { what: string; scope: ScopeName }) {
  return <span className="granted">{scope === "once" ? TEXT.thisCall : TEXT.untilEnd(reveal(what))}</span>;
}

function Written({ words }: { words: RuleWords | undefined }) {
  return words ? (
    <>
      {words.rule} <span className="muted">· {words.place}</span>
    </>
  ) : (
    <>{TEXT.noRule}</>
  );
}

/** After text from outside was read: how far it may cause calls, the narrowest first. */
function Lifts({ question, busy, onLift }: { question: CallQuestion; busy: boolean; onLift: (how: LiftName) => void }) {
  const offered = question.lifts ?? [];
  if (offered.length === 0) return null;
  return (
    <p className="secondary space-above-10">
      {TEXT.liftFor}{" "}
      {offered.map((how) => (
        <button key={how} type="button" className="btn small lift-button" disabled={busy} onClick={() => onLift(how)}>
          {LIFTS[how]}
        </button>
      ))}
    </p>
  );
}

/** Go to the latest card whose result came from outside, as the reasons name it. */
function showOrigin(question: CallQuestion): void {
  const told = question.reasons.join(" ");
  const cards = [...document.querySelectorAll<HTMLElement>("#main article[data-tool]")];
  const from = cards.reverse().find((one) => told.includes(one.dataset["tool"] ?? "?"));
  if (from) from.focus();
  else notify(TEXT.notInView);
}

interface ButtonsProps {
  question: CallQuestion;
  scope: ScopeName;
  said: string;
  /** Whether the whole call was in view. */
  seen: boolean;
  onAllow: () => void;
  onDeny: () => void;
}

/** For untrusted text and unseen code, No is the main button. */
function Buttons({ question, scope, said, seen, onAllow, onDeny }: ButtonsProps) {
  const strict = question.flow || question.hazard;
  const allow = (
    <button
      key="allow"
      type="button"
      className={strict ? "btn" : "btn primary"}
      disabled={said !== "" || !seen}
      onClick={onAllow}
    >
      {SCOPES[scope].button} <kbd>A</kbd>
    </button>
  );
  const deny = (
    <button key="deny" type="button" className={strict ? "btn primary" : "btn"} disabled={said !== ""} onClick={onDeny}>
      {TEXT.deny} <kbd>D</kbd>
    </button>
  );
  return (
    <div className="actions">
      {strict ? [deny, allow] : [allow, deny]}
      {question.flow && (
        <button type="button" className="plain-button link-button small-link" onClick={() => showOrigin(question)}>
          {TEXT.where}
        </button>
      )}
      <span className="muted text-small grow text-end">{question.principal === "agent" ? TEXT.denyHint : ""}</span>
    </div>
  );
}
