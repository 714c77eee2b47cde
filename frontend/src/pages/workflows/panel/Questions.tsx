/** What a run asks: questions of its steps with choices and values, and approvals of their calls; answers are sent to
 * the host. */

import { useEffect, useMemo, useRef, useState } from "react";

import { run } from "../../../api/client";
import { sentence } from "../../../api/errors";
import { refreshSoon, useOperation } from "../../../api/hooks";
import type { StepQuestion } from "../../../api/types";
import { dayAndTime } from "../../../ui/amounts";
import { Exact } from "../../../ui/Exact";
import { reveal } from "../../../ui/hidden";
import { draftOf, readDrafts } from "../../../ui/schema-form/drafts";
import { fieldsOf, type Drafts } from "../../../ui/schema-form/schema";
import { SchemaForm } from "../../../ui/schema-form/SchemaForm";
import { Glyph } from "../../../ui/Status";
import { SEE_ALL, Whole } from "../../../ui/Whole";
import { CallApproval } from "../../chat/CallApproval";
import { PressIgnored, useInputDelay } from "../../chat/inputDelay";
import type { Graph } from "../graph/file";
import { nameOf } from "../graph/file";
import { askingStep } from "../runs/progress";
import type { ShownRun } from "../runs/useRun";
import { PROBLEMS } from "../text/editor";
import { ASK } from "../text/panel";
import { Picture } from "./Picture";

interface Props {
  shown: ShownRun;
  graph: Graph;
  /** The selected step: its question is answered here, the others are named. */
  id: string | null;
  onGo: (id: string) => void;
}

/** What the run asks: questions of its steps, and approvals of their calls. */
export function Questions({ shown, graph, id, onGo }: Props) {
  const nodeOf = (step: string) => askingStep(shown.run.steps, step)?.node ?? "";
  return (
    <div className="panel-questions">
      {shown.run.questions.map((question) => {
        const node = nodeOf(question.step);
        if (id !== null && node !== id)
          return (
            <p key={question.step} className="row text-small">
              <Glyph shape="need" />
              <span className="grow ellipsis">
                {nameOf(graph, node)}: {reveal(question.text)}
              </span>
              <button type="button" className="plain-button link-button nowrap" onClick={() => onGo(node)}>
                {PROBLEMS.go}
              </button>
            </p>
          );
        return <Question key={question.step} run={shown.run.run} question={question} uncertain={question.uncertain} />;
      })}
      <Approvals run={shown.run.run} />
    </div>
  );
}

function Question({ run: id, question, uncertain }: { run: string; question: StepQuestion; uncertain: boolean }) {
  const card = useRef<HTMLElement>(null);
  const ignored = useInputDelay(card);
  const fields = useMemo(() => fieldsOf({ type: "object", properties: question.fields }), [question.fields]);
  const [drafts, setDrafts] = useState<Drafts>(() =>
    Object.fromEntries(fields.map((field) => [field.name, draftOf(field, field.fallback)])),
  );
  const [comment, setComment] = useState("");
  const [said, setSaid] = useState("");
  const [trouble, setTrouble] = useState("");
  const { values, wrong } = readDrafts(fields, drafts);
  const shownValues = Object.entries(question.shown);
  const [seen, setSeen] = useState(shownValues.length === 0);

  async function answer(choice: string) {
    setSaid(choice);
    setTrouble("");
    try {
      await run("workflow_answer", { run: id, step: question.step, choice, values, comment });
    } catch (error) {
      setSaid("");
      setTrouble(sentence(error));
    }
    refreshSoon("workflow_show", "workflow_runs", "waiting");
  }

  return (
    <article className="run-question" ref={card} aria-label={question.text} tabIndex={-1}>
      <PressIgnored shown={ignored} />
      <div className="run-question-head">
        <Glyph shape="need" />
        <div>
          <b className="bold">{reveal(question.text)}</b>
          <p className="secondary text-small">
            {uncertain ? `${ASK.uncertain} ` : ""}
            {ASK.waits} {question.deadline ? ASK.until(until(question.deadline)) : ASK.noLimit}
          </p>
        </div>
      </div>
      <div className="run-question-body">
        {question.picture && <Picture run={question.asked_by} artifact={question.picture} label={question.text} />}
        {shownValues.length > 0 && (
          <Whole label={ASK.values} onSeen={() => setSeen(true)}>
            <dl className="shown-values">
              {shownValues.map(([name, value]) => (
                <div key={name} className="contents">
                  <dt>{reveal(name)}</dt>
                  <dd className="break-anywhere">
                    <Exact text={typeof value === "string" ? value : JSON.stringify(value)} />
                  </dd>
                </div>
              ))}
            </dl>
          </Whole>
        )}
        {fields.length > 0 && (
          <SchemaForm fields={fields} drafts={drafts} wrong={wrong} all={false} onChange={setDrafts} />
        )}
        <label className="visually-hidden" htmlFor={`note-${question.step}`}>
          {ASK.comment}
        </label>
        <div className="field space-above-10">
          <input
            id={`note-${question.step}`}
            placeholder={ASK.comment}
            value={comment}
            maxLength={4000}
            onChange={(event) => setComment(event.target.value)}
          />
        </div>
        {trouble && (
          <p className="error-text text-small space-above-6" role="alert">
            {trouble}
          </p>
        )}
        <div className="row wrap space-above-12">
          {question.choices.map((choice, index) => (
            <button
              key={choice}
              type="button"
              className={index === 0 && !uncertain ? "btn primary" : "btn"}
              disabled={said !== "" || !seen || Object.keys(wrong).length > 0}
              onClick={() => void answer(choice)}
            >
              {reveal(choice)}
            </button>
          ))}
          {!seen && <span className="muted text-small">{SEE_ALL.first}</span>}
        </div>
      </div>
    </article>
  );
}

function until(when: string): string {
  return dayAndTime(when);
}

/** Approvals of calls that this run and its sub-workflows make; the gate asks as it does everywhere. */
function Approvals({ run: id }: { run: string }) {
  const { data } = useOperation("waiting", {});
  const own = (data?.items ?? []).filter(
    (item) => item.kind === "call" && item.id && `${item.run}/`.startsWith(`${id}/`),
  );
  return (
    <>
      {own.map((item) => (
        <Approval key={item.id} id={item.id ?? ""} durable={item.durable} />
      ))}
    </>
  );
}

function Approval({ id, durable }: { id: string; durable: boolean }) {
  const { data } = useOperation("question_show", { id });
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (data) place.current?.scrollIntoView({ block: "nearest" });
  }, [data]);
  if (!data) return null;
  const reply = (action: "accept" | "decline", content: Record<string, unknown>) =>
    run("approval_answer", {
      id,
      allow: action === "accept",
      scope: (content["scope"] as "once" | undefined) ?? "once",
      any_arguments: content["any_arguments"] === true,
      lift: (content["lift"] as "tool" | undefined) ?? null,
      message: String(content["message"] ?? ""),
    });
  return (
    <div className="page-chat" ref={place}>
      <CallApproval question={data} place="" focused={false} {...(durable ? { reply } : {})} />
    </div>
  );
}
