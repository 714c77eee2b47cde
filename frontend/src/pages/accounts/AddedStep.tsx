/** The last step after an account was added: who is signed in, which servers were turned on, remarks of the test. */

import { reveal } from "../../ui/hidden";
import { Status } from "../../ui/Status";
import { StepDialog } from "../add/StepDialog";
import { addedText, FORM, serversText } from "./text";

export interface Outcome {
  name: string;
  identity: string;
  servers: readonly string[];
  remarks: readonly string[];
}

/** The account works; what it turned on, and what is worth knowing about it. */
export function AddedStep({ outcome, onClose }: { outcome: Outcome; onClose: () => void }) {
  const servers = serversText(outcome.servers);
  return (
    <StepDialog
      title={`${outcome.name} works`}
      onClose={onClose}
      foot={
        <button type="button" className="btn primary" onClick={onClose}>
          {FORM.done}
        </button>
      }
    >
      <div role="status">
        <span className="account-identity">
          <Status shape="done" word={reveal(addedText(outcome))} />
        </span>
        {servers && <p className="secondary space-above-8">{reveal(servers)}</p>}
      </div>
      {outcome.remarks.length > 0 && (
        <ul className="account-remarks">
          {outcome.remarks.map((remark) => (
            <li key={remark} className="secondary text-small">
              {reveal(remark)}
            </li>
          ))}
        </ul>
      )}
    </StepDialog>
  );
}
