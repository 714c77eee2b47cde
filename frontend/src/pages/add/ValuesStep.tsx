/** The step that asks for values which a package requires, known once the host has looked it up. */

import { useState } from "react";

import { ErrorBox } from "../../ui/ErrorBox";
import type { Answers, Proposed } from "./types";
import { LookUp, type LookingUp } from "./LookUp";
import { StepDialog } from "./StepDialog";
import { Values } from "./Values";

interface Props {
  proposed: Proposed;
  answers: Answers;
  busy: boolean;
  looking: LookingUp | null;
  error: unknown;
  onSee: (answers: Answers) => void;
  onBack: () => void;
  onClose: () => void;
}

/** What a package says it needs, once it was looked up. */
export function ValuesStep({ proposed, answers: given, busy, looking, error, onSee, onBack, onClose }: Props) {
  const [answers, setAnswers] = useState(given);
  const [asked, setAsked] = useState(false);
  const missing = proposed.missing.filter((key) => !answers[key]);
  return (
    <StepDialog
      title={`${proposed.name} needs a value`}
      onClose={onClose}
      onSubmit={() => {
        setAsked(true);
        if (missing.length === 0 && !busy) onSee(answers);
      }}
      foot={
        <>
          <span className="grow" />
          <button type="button" className="btn" onClick={onBack}>
            Back
          </button>
          <button type="submit" className="btn primary plan-button" disabled={busy} aria-busy={busy}>
            Review plan
          </button>
        </>
      }
    >
      <Values needed={proposed.needed} answers={answers} missing={asked ? missing : []} onChange={setAnswers} />
      {looking && <LookUp {...looking} />}
      {error !== null && error !== undefined && <ErrorBox error={error} />}
    </StepDialog>
  );
}
