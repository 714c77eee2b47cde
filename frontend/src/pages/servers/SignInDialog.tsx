import { useEffect, useEffectEvent, useState } from "react";

import { stream } from "../../api/client";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { webAddress } from "../../ui/address";
import { Status } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import { StepDialog } from "../add/StepDialog";

/** Signs in to a remote server: its page opens in a tab of its own, this waits for the outcome. */
export function SignInDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [address, setAddress] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const finish = useEffectEvent(() => {
    void queries.invalidateQueries();
    notify(`Signed in to “${name}”.`);
    onClose();
  });
  useEffect(() => {
    const abort = new AbortController();
    setError(null);
    setAddress("");
    stream("login", { name }, (event) => setAddress(webAddress(event.open)), abort.signal).then(
      finish,
      (caught: unknown) => !abort.signal.aborted && setError(caught),
    );
    return () => abort.abort();
  }, [name, tries]);
  return (
    <StepDialog
      title={`Sign in to ${name}`}
      onClose={onClose}
      foot={
        <>
          <span className="grow muted text-small">Toolcrib never sees your password</span>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          {address && !error && (
            <a className="btn primary" href={address} target="_blank" rel="noopener noreferrer">
              Open sign-in page
            </a>
          )}
        </>
      }
    >
      {error === null ? (
        <>
          <Status shape="work" word={address ? "Waiting for you to sign in" : "Requesting the sign-in page"} />
          {address && (
            <>
              <p className="secondary block-space">The page opens in a new tab. This is its full address.</p>
              <div className="command-box">{address}</div>
            </>
          )}
        </>
      ) : (
        <ErrorBox error={error} again={() => setTries(tries + 1)} />
      )}
    </StepDialog>
  );
}
