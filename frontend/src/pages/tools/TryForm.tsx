/** The form "Try it": initial values, Run and Stop, and whether the call would need approval, which is decided by the
 * host. */

import { useEffect, useMemo, useState, type KeyboardEvent } from "react";

import { useOperation } from "../../api/hooks";
import type { ToolDetails } from "../../api/types";
import { Copy } from "../../ui/Copy";
import { MOD_ENTER } from "../../ui/platform";
import { draftOf, readDrafts } from "../../ui/schema-form/drafts";
import { fieldsOf, type Drafts, type Field } from "../../ui/schema-form/schema";
import { SchemaForm } from "../../ui/schema-form/SchemaForm";
import { useSettled } from "../../ui/settled";
import { CallApproval } from "../chat/CallApproval";
import { ServerRequest } from "../chat/ServerRequest";
import { commandFor } from "./commands";
import { draftsFrom } from "./lastArguments";
import { Outcome } from "./Outcome";
import { useTrial, type Trial } from "./toolRun";
import { TEXT } from "./text";

const typed = new Map<string, Drafts>();

/** The form for a tool's arguments; running it goes through the gate, and says so before. */
export function TryForm({ tool }: { tool: ToolDetails }) {
  const fields = useMemo(() => fieldsOf(tool.inputSchema), [tool.inputSchema]);
  const [own, setOwn] = useState<Drafts | null>(() => typed.get(tool.name) ?? null);
  const last = useOperation("calls", { words: `tool:${tool.name} who:page`, limit: 1, count: false }).data?.calls[0];
  const drafts = useMemo(() => own ?? startOf(fields, last?.arguments), [own, fields, last?.arguments]);
  const [tried, setTried] = useState(false);
  const { trial, start, stop } = useTrial(tool.name);
  const settled = useSettled(trial.running);
  const { values, wrong } = useMemo(() => readDrafts(fields, drafts), [fields, drafts]);
  const good = Object.keys(wrong).length === 0;
  const callable = tool.standing === "ready" || (tool.standing === "away" && !tool.why_not.includes("not offered"));

  function change(next: Drafts) {
    typed.set(tool.name, next);
    setOwn(next);
  }
  function go() {
    setTried(true);
    if (good && callable && !trial.running) start(values);
  }
  function press() {
    if (trial.running) stop();
    else if (settled) go(); // Else the try ended just before its Stop was pressed.
  }
  function keys(event: KeyboardEvent) {
    const inField = event.target instanceof HTMLInputElement;
    if (event.key !== "Enter" || event.nativeEvent.isComposing || !(inField || event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    go();
  }
  return (
    <>
      <form noValidate onKeyDown={keys} onSubmit={(event) => event.preventDefault()}>
        <SchemaForm fields={fields} drafts={drafts} wrong={wrong} all={tried} onChange={change} />
        <div className="row actions space-above-18">
          {/* One button that never submits: were its type to change while it is pressed, Stop would run it again. */}
          <button
            type="button"
            className="btn primary run-button"
            disabled={!callable && !trial.running}
            aria-disabled={!settled && !trial.running}
            onClick={press}
          >
            {trial.running ? (
              TEXT.stop
            ) : (
              <>
                {TEXT.run} <kbd>{MOD_ENTER}</kbd>
              </>
            )}
          </button>
          <Copy bare icon={false} text={commandFor(tool.name, values)} label={TEXT.copyCommand} />
          <span className="grow" />
          <GateNote tool={tool} values={values} good={good} callable={callable} />
        </div>
      </form>
      <Asked trial={trial} />
      {(trial.running || trial.ended || last) && <hr className="result-line" />}
      <Outcome trial={trial} last={last} />
    </>
  );
}

/** What has to be answered before the call goes on; beside the form, since a question may have a form of its own. */
function Asked({ trial }: { trial: Trial }) {
  const { question, serverQuestion } = trial;
  if (!question && !serverQuestion) return null;
  return (
    <div className="page-chat tool-question">
      {question && <CallApproval key={question.id} question={question} place="" focused={false} />}
      {serverQuestion && <ServerRequest key={serverQuestion.id} asking={serverQuestion} place="" focused={false} />}
    </div>
  );
}

/** Initial values: the last recorded arguments, else the defaults. */
function startOf(fields: readonly Field[], recorded: string | undefined): Drafts {
  const defaults = Object.fromEntries(fields.map((field) => [field.name, draftOf(field, field.fallback)]));
  return recorded === undefined ? defaults : { ...defaults, ...draftsFrom(fields, recorded) };
}

interface NoteProps {
  tool: ToolDetails;
  values: Record<string, unknown>;
  good: boolean;
  callable: boolean;
}

/** What the gate would do with exactly this call. */
function GateNote({ tool, values, good, callable }: NoteProps) {
  const rested = useRested(values);
  const { data } = useOperation(
    "policy_explain",
    { tool: tool.name, arguments: rested, principal: "page" },
    { enabled: good && callable && rested === values, keepPrevious: true },
  );
  if (!callable) return <span className="muted text-small">{tool.why_not}</span>;
  const decision = (good && data?.decision) || tool.gate;
  const reasons = (good && data?.reasons) || tool.reasons;
  return (
    <span className="muted text-small" title={reasons.join(" ")} data-gate={decision}>
      {TEXT.gate[decision]}
    </span>
  );
}

/** The value once it has not changed for a moment. */
function useRested<T>(value: T, ms = 250): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
