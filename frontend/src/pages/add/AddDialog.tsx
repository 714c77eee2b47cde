/** The dialog that adds a server, in three steps: paste, confirm, test; which step follows which. Nothing is written
 * before the second is answered. */

import { useEffect, useRef, useState } from "react";

import { stream } from "../../api/client";
import { AccountDialog } from "../accounts/AccountDialog";
import { CatalogStep } from "./CatalogStep";
import { ConfirmStep } from "./ConfirmStep";
import type { IncludedChoice, Launch, Listed, Proposed, Request } from "./types";
import { EMPTY, filledFrom, FormStep, type Filled } from "./FormStep";
import { addIncluded, missingAccount } from "./addIncluded";
import { ChoiceStep } from "./ChoiceStep";
import { progressText, type LookingUp } from "./LookUp";
import { PasteStep, type Pasted } from "./PasteStep";
import { TestStep } from "./TestStep";
import { addAndTest, useSetups } from "./setups";
import { CHOICE, LOOK_UP, type Fix } from "./text";
import { ValuesStep } from "./ValuesStep";

type At = "paste" | "catalog" | "form" | "values" | "confirm" | "test" | "account" | "choice";

interface Props {
  text?: string;
  start?: "paste" | "catalog" | "form";
  onClose: () => void;
  onFix: (name: string, what: Fix) => void;
}

/** One dialog, three steps: paste, confirm, test. Nothing is written before the second is answered. */
export function AddDialog({ text = "", start = "paste", onClose, onFix }: Props) {
  const [at, setAt] = useState<At>(start);
  const [from, setFrom] = useState<"paste" | "form">(start === "form" ? "form" : "paste");
  const [pasted, setPasted] = useState<Pasted>({ text, name: null, answers: {}, asIs: false });
  const [filled, setFilled] = useState<Filled>(EMPTY);
  const [request, setRequest] = useState<Request>({});
  const [proposed, setProposed] = useState<Proposed | null>(null);
  const [included, setIncluded] = useState<Listed | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [doing, setDoing] = useState<string | null>(null);
  const asked = useRef<AbortController | null>(null);
  useEffect(() => () => asked.current?.abort(), []); // A closed dialog needs no answer.
  const looking: LookingUp | null = doing === null ? null : { words: doing, stop: () => asked.current?.abort() };
  const setup = useSetups().find((one) => one.name === proposed?.name);

  async function see(wanted: Request, source: "paste" | "form"): Promise<void> {
    setFrom(source);
    setRequest(wanted);
    setError(null);
    setBusy(true);
    const { signal } = (asked.current = new AbortController());
    setDoing(LOOK_UP.begun);
    try {
      const answer = await stream("propose", wanted, (step) => setDoing(progressText(step)), signal);
      setProposed(answer);
      setAt(answer.launch ? "confirm" : "values");
    } catch (caught) {
      if (!signal.aborted) setError(caught);
    } finally {
      setDoing(null);
      setBusy(false);
    }
  }

  async function trust(launch: Launch): Promise<void> {
    if (!proposed || busy) return;
    setBusy(true);
    try {
      await addAndTest(request, proposed, launch);
      setAt("test");
    } catch (caught) {
      setError(caught);
      setAt(from);
    } finally {
      setBusy(false);
    }
  }

  /** Its account and its choice come first: nothing is added before. */
  async function include(listed: Listed, choice?: IncludedChoice): Promise<void> {
    if (busy) return;
    setBusy(true);
    setError(null);
    setIncluded(listed);
    try {
      if ((await missingAccount(listed)).length > 0) return setAt("account");
      if (listed.needs_choice && !choice) return setAt("choice");
      const begun = await addIncluded(listed, choice);
      setRequest(begun.request);
      setProposed(begun.proposed);
      setAt(begun.proposed.launch ? "test" : "values");
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  }

  function again(): void {
    setPasted({ text: "", name: null, answers: {}, asIs: false });
    setFilled(EMPTY);
    setProposed(null);
    setAt("paste");
  }

  switch (at) {
    case "paste":
      return (
        <PasteStep
          pasted={pasted}
          busy={busy}
          looking={looking}
          error={error}
          onChange={(next) => (asked.current?.abort(), setPasted(next), setError(null))}
          onSee={(wanted) => void see(wanted, "paste")}
          onAdd={(listed) => void include(listed)}
          onCatalog={() => (setError(null), setAt("catalog"))}
          onForm={() => (setFilled(EMPTY), setAt("form"))}
          onClose={onClose}
        />
      );
    case "catalog":
      return (
        <CatalogStep
          busy={busy}
          failure={error}
          onAdd={(listed) => void include(listed)}
          onChoose={(listed) => (setFilled(filledFrom(listed)), setError(null), setAt("form"))}
          onBack={() => (setError(null), setAt("paste"))}
          onClose={onClose}
        />
      );
    case "form":
      return (
        <FormStep
          filled={filled}
          busy={busy}
          looking={looking}
          error={error}
          onChange={(next) => (asked.current?.abort(), setFilled(next), setError(null))}
          onSee={(wanted) => void see(wanted, "form")}
          onBack={() => setAt(filled.listed ? "catalog" : "paste")}
          onClose={onClose}
        />
      );
    case "values":
      return (
        proposed && (
          <ValuesStep
            proposed={proposed}
            answers={request.answers ?? {}}
            busy={busy}
            looking={looking}
            error={error}
            onSee={(answers) => void see({ ...request, answers }, from)}
            onBack={() => setAt(from)}
            onClose={onClose}
          />
        )
      );
    case "confirm":
      return (
        proposed?.launch && (
          <ConfirmStep
            launch={proposed.launch}
            onTrust={() => proposed.launch && void trust(proposed.launch)}
            onRefuse={onClose}
          />
        )
      );
    case "account":
      return (
        included && (
          <AccountDialog
            only={included.needs_account}
            onAdded={(servers) => (servers.includes(included.name) ? onClose() : void include(included))}
            onClose={onClose}
          />
        )
      );
    case "choice":
      return (
        included && (
          <ChoiceStep
            name={included.name}
            title={CHOICE.where(included.title)}
            does={CHOICE.add}
            busy={busy}
            error={error}
            onChoose={(choice) => void include(included, choice)}
            onBack={() => (setError(null), setAt("paste"))}
            onClose={onClose}
          />
        )
      );
    case "test":
      return setup ? (
        <TestStep setup={setup} onClose={onClose} onFix={(what) => onFix(setup.name, what)} onAgain={again} />
      ) : null;
  }
}
