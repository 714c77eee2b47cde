/** Choosing how an included server works, such as on which display; options that cannot work here say why. The options
 * come from the host. */

import { useState } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { ErrorBox } from "../../ui/ErrorBox";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { StepDialog } from "./StepDialog";
import { CHOICE } from "./text";
import type { IncludedChoice } from "./types";

interface Props {
  /** Of the configured server, or of one in the catalog. */
  name: string;
  title: string;
  busy: boolean;
  error: unknown;
  /** What the main button does. */
  does: string;
  onChoose: (choice: IncludedChoice) => void;
  onBack?: () => void;
  onClose: () => void;
}

/** The ways to set up an included server; one that cannot work here says why. */
export function ChoiceStep({ name, title, busy, error, does, onChoose, onBack, onClose }: Props) {
  const choices = useOperation("included_choices", { name });
  const [wanted, setWanted] = useState("");
  const possible = (choices.data ?? []).filter((one) => !one.problem);
  const chosen = possible.find((one) => one.title === wanted) ?? possible[0];
  return (
    <StepDialog
      title={title}
      onClose={onClose}
      onSubmit={() => chosen && !busy && onChoose(chosen)}
      foot={
        <>
          <span className="grow" />
          <button type="button" className="btn" onClick={onBack ?? onClose}>
            {onBack ? CHOICE.back : CHOICE.cancel}
          </button>
          <button type="submit" className="btn primary" disabled={!chosen || busy} aria-busy={busy}>
            {does}
          </button>
        </>
      }
    >
      {!choices.data && !choices.error && <Loading rows={2} height={56} />}
      {choices.error && <ErrorBox error={choices.error} again={() => void choices.refetch()} />}
      <div className="choice-list" role="radiogroup" aria-label={title}>
        {choices.data?.map((one) => (
          <label key={one.title} className={one === chosen ? "choice-row selected" : "choice-row"}>
            <input
              type="radio"
              name="included-choice"
              checked={one === chosen}
              disabled={one.problem !== ""}
              onChange={() => setWanted(one.title)}
            />
            <span>
              <b className="medium">{one.title}</b>
              <span className="secondary text-small block">{one.about}</span>
              {one.problem && (
                <span className="text-small block space-above-4">
                  {CHOICE.not} {reveal(one.problem)} {!one.hint.includes("--headless") && reveal(one.hint)}
                </span>
              )}
            </span>
          </label>
        ))}
      </div>
      {error !== null && <ErrorBox error={error} />}
    </StepDialog>
  );
}

/** Another way for a server that is there, such as a display of its own. */
export function ChoiceDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function save(choice: IncludedChoice): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const { digest } = await run("entry", { name });
      await run("entry_edit", { name, text: JSON.stringify(choice.entry, null, 2), digest });
      await queries.invalidateQueries();
      notify(CHOICE.saved(name, choice.title));
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  }
  return (
    <ChoiceStep
      name={name}
      title={CHOICE.where(name)}
      does={CHOICE.save}
      busy={busy}
      error={error}
      onChoose={(choice) => void save(choice)}
      onClose={onClose}
    />
  );
}
