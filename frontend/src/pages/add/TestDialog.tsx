/** "Test connection" of a configured server; a test that is already running is shown, not started again. The host
 * makes the test. */

import { useEffect, useState } from "react";

import { ErrorBox } from "../../ui/ErrorBox";
import { StepDialog } from "./StepDialog";
import { testServer, useSetups } from "./setups";
import { TestStep } from "./TestStep";
import { TEST, type Fix } from "./text";

interface Props {
  name: string;
  /** Only show what is under way, or how it went. */
  shown?: boolean;
  onClose: () => void;
  onFix: (name: string, what: Fix) => void;
}

/** Tests a configured server; what is under way with it already is shown, not begun anew. */
export function TestDialog({ name, shown = false, onClose, onFix }: Props) {
  const [begun, setBegun] = useState(shown);
  const [refused, setRefused] = useState<unknown>(null);
  useEffect(() => {
    if (!shown) testServer(name).then(() => setBegun(true), setRefused);
  }, [name, shown]);
  const setup = useSetups().find((one) => one.name === name);
  if (refused !== null) {
    return (
      <StepDialog
        title={name}
        onClose={onClose}
        foot={
          <button type="button" className="btn" onClick={onClose}>
            {TEST.close}
          </button>
        }
      >
        <ErrorBox error={refused} />
      </StepDialog>
    );
  }
  return begun && setup ? <TestStep setup={setup} onClose={onClose} onFix={(what) => onFix(name, what)} /> : null;
}
