/** The question whether to trust a server that is configured but was not allowed to run yet, or whose command
 * changed. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";
import { ConfirmStep } from "./ConfirmStep";
import { StepDialog } from "./StepDialog";
import type { Fix } from "./text";
import { TestStep } from "./TestStep";
import { agreeAndTest, useSetups } from "./setups";

interface Props {
  name: string;
  onClose: () => void;
  onFix: (name: string, what: Fix) => void;
}

/** The confirm step for a server that is configured and waits for a word. */
export function ReviewDialog({ name, onClose, onFix }: Props) {
  const [agreed, setAgreed] = useState(false);
  const { data, error } = useOperation("launch", { name }, { enabled: !agreed });
  const [refused, setRefused] = useState<unknown>(null);
  const setup = useSetups().find((one) => one.name === name);
  if (agreed) return setup ? <TestStep setup={setup} onClose={onClose} onFix={(what) => onFix(name, what)} /> : null;
  if (data && refused === null) {
    return (
      <ConfirmStep
        launch={data}
        onTrust={() => {
          agreeAndTest(data).then(() => setAgreed(true), setRefused);
        }}
        onRefuse={onClose}
      />
    );
  }
  return (
    <StepDialog
      title={name}
      onClose={onClose}
      foot={
        <button type="button" className="btn" onClick={onClose}>
          Close
        </button>
      }
    >
      {error || refused !== null ? <ErrorBox error={error ?? refused} /> : <Loading rows={4} height={36} />}
    </StepDialog>
  );
}
