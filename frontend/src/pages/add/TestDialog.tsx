import { useEffect } from "react";

import { TestStep } from "./TestStep";
import { testServer, useTrials } from "./trials";

interface Props {
  name: string;
  type: string;
  onClose: () => void;
  onFix: (name: string, what: "command" | "value" | "sign-in") => void;
}

/** Tests a configured server; one that is under way already is shown, not begun anew. */
export function TestDialog({ name, type, onClose, onFix }: Props) {
  const trial = useTrials().find((one) => one.name === name);
  const known = trial !== undefined;
  useEffect(() => {
    if (!known) testServer(name, type);
    // Only when it opens: closing forgets the trial, and that must not begin another.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [name]);
  return trial ? <TestStep trial={trial} onClose={onClose} onFix={(what) => onFix(name, what)} /> : null;
}
